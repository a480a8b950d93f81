package elector

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
)

// slow delays each request and its reply by half of d.
func (f *faulty) slow(d time.Duration) {
	half := func(ctx context.Context, _ string) error {
		select {
		case <-time.After(d / 2):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	f.set(half, half)
}

// EC74: a store that answers slowly for an hour, to all or to the leader alone. Where the TTL leaves room for its requests the leader stays; where it doesn't, the leader steps
// down, and before another leads.
func TestASlowStore(t *testing.T) {
	for _, c := range []struct {
		name  string
		ttl   time.Duration
		slow  int // for so many of the two, the leader first
		stays bool
	}{
		{"a long TTL", 10 * time.Second, 2, true},
		{"a short TTL", 3 * time.Second, 2, false},
		{"a short TTL, slow for the leader alone", 3 * time.Second, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memory.Server) {
				all, stores := pair(t, server, c.ttl)
				first := <-all[0].terms
				for _, f := range stores[:c.slow] {
					f.slow(2 * time.Second)
				}
				for range 3600 * 20 {
					pass(50 * time.Millisecond)
					if all[0].Leading() && all[1].Leading() {
						t.Fatal("two lead")
					}
				}
				if stayed := first.Context().Err() == nil; stayed != c.stays {
					t.Errorf("the first term goes on: %v (%v)", stayed, context.Cause(first.Context()))
				}
				if c.slow == 1 && !all[1].Leading() {
					t.Error("the one whose store is well doesn't lead")
				}
				for _, f := range stores {
					f.set(nil, nil)
				}
				pass(2 * c.ttl)
				if all[0].Leading() == all[1].Leading() {
					t.Error("the store is well again, and not exactly one leads")
				}
				for _, r := range all {
					_ = r.end()
				}
			})
		})
	}
}

// pair starts two candidates, one after the other, each with a store that can be made faulty.
func pair(t *testing.T, server *memory.Server, ttl time.Duration) (all []*running, stores []*faulty) {
	t.Helper()
	for _, id := range []string{"a", "b"} {
		f := newFaulty(server.Client())
		cfg := config(f, id)
		cfg.TTL = ttl
		all, stores = append(all, start(t, cfg)), append(stores, f)
		synctest.Wait()
	}
	return all, stores
}
