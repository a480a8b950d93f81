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

// EC74: a store that answers slowly for an hour. Where the TTL leaves room for its requests the leader stays; where it doesn't, the leader steps down in time, and never do two lead.
func TestASlowStore(t *testing.T) {
	for _, c := range []struct {
		ttl  time.Duration
		stay bool
	}{{10 * time.Second, true}, {3 * time.Second, false}} {
		t.Run(c.ttl.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memory.Server) {
				var all []*running
				var stores []*faulty
				for _, id := range []string{"a", "b"} {
					f := newFaulty(server.Client())
					cfg := config(f, id)
					cfg.TTL = c.ttl
					all, stores = append(all, start(t, cfg)), append(stores, f)
					synctest.Wait()
				}
				first := <-all[0].terms
				for _, f := range stores {
					f.slow(2 * time.Second)
				}
				for range 3600 * 10 {
					pass(100 * time.Millisecond)
					if all[0].Leading() && all[1].Leading() {
						t.Fatal("two lead")
					}
				}
				if stayed := first.Context().Err() == nil; stayed != c.stay {
					t.Errorf("the first term lives: %v, %v", stayed, context.Cause(first.Context()))
				}
				for i, f := range stores {
					f.set(nil, nil)
					defer func() { _ = all[i].end() }()
				}
				pass(2 * c.ttl)
				if all[0].Leading() == all[1].Leading() {
					t.Error("when the store is well, not one leads")
				}
			})
		})
	}
}
