package conformance

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// electorMutants are electors with one bug each, on a store without one, and the rule that must come out VIOLATED for it.
var electorMutants = []mutant{
	{"belief is counted from the reply", e1},
	{"belief ends when the store says so", e1},
	{"terms are numbered by their candidate", e2},
	{"a claim whose fate is unknown is made again for ever", e2},
	{"work is cancelled when belief ends, not before", e3},
	{"a context ends without a cause", e3},
	{"a lost lease ends the term as resigned", e3},
	{"a lease is given back when its context ends", e4},
	{"a lease is given back after the grace period", e4},
	{"renewing ends with the context", e4},
	{"renewing goes on after the grace period", e4},
	{"OnOverrun is forgotten", e4},
	{"a follower trusts wake-ups alone", e5},
	{"wake-ups are ignored", e5},
	{"the first failed renewal ends the term", e6},
	{"a candidate gives up after an outage", e6},
	{"Leading reads a flag that a loop clears", e7},
	{"Valid is true until a renewal is refused", e7},
	{"an observer is told of the leader before once more", e8},
	{"an observer is not told that nobody leads", e8},
	{"wake-ups are ignored", e8},
	{"a follower looks twenty times per TTL", e9},
	{"a leader renews ten times per TTL", e9},
	{"failures are repeated at once", e9},
}

// storeMutants are stores with one bug each, below the product's own elector.
var storeMutants = []mutant{
	{"leases end at 80 % of their TTL", e1},
	{"the counter is reset by release", e2},
	{"a lost lease is an unknown error", e3},
	{"a renewal keeps the record as it is", e4},
	{"leases linger for another TTL and 15 s", e5},
	{"each third wake-up is lost", e5},
	{"each fourth renewal is answered as not held", e6},
	{"get goes back to the record before", e8},
	{"each third wake-up is lost", e8},
	{"a watch is woken all the time", e9},
}

func wantViolated(t *testing.T, r *Report, rule Rule) {
	t.Helper()
	if r.Outcome(rule) != Violated {
		t.Errorf("%s is %s, want it VIOLATED:\n%s", rule.Slug, r.Outcome(rule), r)
	}
}

// breakableSuite reaches a store with a bug, which counts its requests.
func breakableSuite(bug string) Suite {
	server := newBreakable(bug)
	odd := &oddServer{bug: bug}
	return Suite{
		Open:     func(T) backend.LeaseStore { return &oddClient{LeaseStore: server.client(), server: odd} },
		Plant:    func(_ T, election, moved string, version int) { server.plant(election, moved, version) },
		Remove:   func(_ T, election string) { server.remove(election) },
		Requests: func(T) int64 { return odd.count() },
	}
}

// examineElections plays all election cases, each in a bubble.
func examineElections(t *testing.T, s Suite) *Report {
	report := new(Report)
	for _, c := range Cases() {
		if !c.elects() {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			result, store := play(t.Context(), s, c, c.Name)
			report.add(store, result)
			<-time.After(2 * time.Hour) // some bugs leave goroutines behind for a while
		})
	}
	return report
}

// oddServer has the bugs that only an elector suffers from.
type oddServer struct {
	bug string

	mu       sync.Mutex
	requests int64
	renewals int
	before   map[string]backend.Record
}

func (s *oddServer) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	return s.requests
}

type oddClient struct {
	backend.LeaseStore
	server *oddServer
}

func (c *oddClient) Acquire(ctx context.Context, claim backend.Claim) (backend.Lease, error) {
	c.server.count()
	return c.LeaseStore.Acquire(ctx, claim)
}

func (c *oddClient) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	c.server.count()
	c.server.mu.Lock()
	c.server.renewals++
	n := c.server.renewals
	c.server.mu.Unlock()
	switch {
	case c.server.bug == "each fourth renewal is answered as not held" && n%4 == 0:
		return backend.Lease{}, backend.ErrNotHeld
	case c.server.bug == "a renewal keeps the record as it is":
		return l, nil
	}
	return c.LeaseStore.Renew(ctx, l)
}

func (c *oddClient) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	c.server.count()
	return c.LeaseStore.Release(ctx, l, h)
}

func (c *oddClient) Get(ctx context.Context, election string) (backend.Record, error) {
	c.server.count()
	r, err := c.LeaseStore.Get(ctx, election)
	if c.server.bug != "get goes back to the record before" || err != nil {
		return r, err
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if c.server.before == nil {
		c.server.before = make(map[string]backend.Record)
	}
	old, known := c.server.before[election]
	if c.server.before[election] = r; known {
		return old, nil
	}
	return r, nil
}

func (c *oddClient) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	c.server.count()
	changes, err := c.LeaseStore.Watch(ctx, election)
	if c.server.bug != "a watch is woken all the time" || err != nil {
		return changes, err
	}
	noisy := make(chan struct{}, 1)
	go func() {
		defer close(noisy)
		for {
			select {
			case _, open := <-changes:
				if !open {
					return
				}
			case <-time.After(10 * time.Millisecond):
			}
			select {
			case noisy <- struct{}{}:
			default:
			}
		}
	}()
	return noisy, nil
}
