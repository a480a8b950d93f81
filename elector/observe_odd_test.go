package elector

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// observed collects what an observer of s tells within d.
func observed(t *testing.T, s backend.LeaseStore, d time.Duration) (leaders []string, failures int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	for l, err := range newTest(t, config(s, "watcher")).Observe(ctx) {
		if err != nil {
			failures++
			continue
		}
		leaders = append(leaders, l.Candidate.ID)
	}
	return leaders, failures
}

// E8, R41: an observer whose watch fails, hangs or ends tells who leads all the same, and no watch makes it flood the store.
func TestAnObserverSurvivesItsWatch(t *testing.T) {
	held := backend.Record{Election: "e", Holder: backend.Candidate{ID: "a"}, Token: 1, Counter: 1, TTL: ttl, Remaining: -time.Hour}
	for name, c := range map[string]struct {
		odd  odd
		fail func(ctx context.Context, op string) error
	}{
		"noisy": {odd: odd{watch: noisy(100 * time.Microsecond)}},
		"short": {odd: odd{watch: short}},
		"nil":   {odd: odd{watch: deaf}},
		"fails": {fail: func(_ context.Context, op string) error {
			if op == "watch" {
				return errInjected
			}
			return nil
		}},
		"hangs": {fail: func(ctx context.Context, op string) error {
			if op == "watch" {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		}},
		"noisy and free":   {odd: odd{watch: noisy(100 * time.Microsecond), get: func() backend.Record { return backend.Record{Token: 1, Counter: 1} }}},
		"held for no time": {odd: odd{get: func() backend.Record { return held }}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memory.Server) {
				a := start(t, config(server.Client(), "a"))
				<-a.terms
				c.odd.faulty = newFaulty(server.Client())
				c.odd.set(func(ctx context.Context, op string) error {
					pass(time.Millisecond)
					if c.fail != nil {
						return c.fail(ctx, op)
					}
					return nil
				}, nil)
				const n = 30
				leaders, _ := observed(t, &c.odd, n*ttl)
				if len(leaders) != 1 || leaders[0] != "a" && name != "noisy and free" {
					t.Errorf("told %q", leaders)
				}
				requests := float64(c.odd.count("get")+c.odd.count("watch")) / n
				t.Logf("%.1f requests per TTL", requests)
				if requests > 12 {
					t.Error("too many")
				}
				_ = a.end()
				pass(2 * time.Second)
			})
		})
	}
}

// E8, EC42: a record that an operator removed has no leader.
func TestAnObserverSeesARemovedRecord(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		c := server.Client()
		_, err := c.Acquire(t.Context(), backend.Claim{Election: "e", Candidate: backend.Candidate{ID: "a"}, TTL: time.Hour, Attempt: backend.Attempt{1}})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { server.Remove("e") })
		leaders, _ := observed(t, server.Client(), 10*ttl)
		if len(leaders) != 2 || leaders[0] != "a" || leaders[1] != "" {
			t.Errorf("told %q", leaders)
		}
	})
}
