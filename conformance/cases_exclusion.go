package conformance

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
)

const (
	rivals = 8 // goroutines that compete, on two clients
	rounds = 5 // terms of each
)

var exclusionCases = []Case{
	{Name: "many rivals on two clients hold an election one at a time", Rule: s1, run: func(t *trial) {
		t.compete(rounds, func(i int) backend.Claim { return t.claim(rival(i)) }, t.letGo)
	}},
	{Name: "rivals that share one candidate's ID hold an election one at a time", Rule: s1, Covers: []string{"DX10"}, run: func(t *trial) {
		t.compete(rounds, func(int) backend.Claim { return t.claim("P") }, t.letGo)
	}},
	{Name: "rivals that never release follow each other by expiry, one at a time", Rule: s1, Waits: true, run: func(t *trial) {
		t.compete(1, func(i int) backend.Claim { c := t.brief(rival(i)); c.TTL = max(t.ttl/4, t.limits.MinTTL); return c },
			func(backend.LeaseStore, backend.Lease) {})
	}},
	{Name: "of many acquires of a new election at one time one is granted", Rule: s1, run: simultaneousAcquires},
	{Name: "many copies of one claim at one time are one grant", Rule: s1, Covers: []string{"DX10"}, run: simultaneousCopies},
}

func rival(i int) string { return string(rune('A' + i)) }

// compete lets the rivals have their terms; what they did is judged by the history.
func (t *trial) compete(terms int, claim func(i int) backend.Claim, end func(backend.LeaseStore, backend.Lease)) {
	t.together(rivals, func(i int) {
		for range terms {
			s, c := t.client(i), claim(i)
			l, ok := t.win(s, c)
			if !ok {
				return
			}
			end(s, l)
		}
	})
}

// win acquires as soon as it can.
func (t *trial) win(s backend.LeaseStore, c backend.Claim) (backend.Lease, bool) {
	patience := 3*generous + rivals*(t.ttl+t.limits.MinTTL+t.limits.ExpiryLag)
	end := time.Now().Add(patience)
	for limit := time.Millisecond; time.Now().Before(end) && t.ctx.Err() == nil; limit = min(2*limit, 32*time.Millisecond) {
		l, err := s.Acquire(t.ctx, c)
		if err == nil {
			return l, true
		}
		if !errors.Is(err, backend.ErrHeld) {
			t.Errorf("acquire among rivals: got %v, want a lease or held", err)
			return l, false
		}
		pause(t.ctx, time.Millisecond+t.jitter(limit))
	}
	t.stop(Undecided, "%s did not get the election within %v", c.Candidate.ID, patience)
	return backend.Lease{}, false
}

// letGo holds the lease for a moment, renews and releases it.
func (t *trial) letGo(s backend.LeaseStore, l backend.Lease) {
	pause(t.ctx, t.jitter(time.Millisecond))
	if _, err := s.Renew(t.ctx, l); err != nil {
		t.Errorf("renewal of a live lease among rivals: %v", err)
	}
	pause(t.ctx, t.jitter(time.Millisecond))
	if err := s.Release(t.ctx, l, backend.Handover{}); err != nil {
		t.Errorf("release of a live lease among rivals: %v", err)
	}
}

func simultaneousAcquires(t *trial) {
	base := t.election
	for round := range rounds {
		t.election = base + "/" + rival(round)
		claims := make([]backend.Claim, rivals)
		for i := range claims {
			claims[i] = t.claim(rival(i))
		}
		var granted atomic.Int64
		t.together(rivals, func(i int) {
			switch _, err := t.client(i).Acquire(t.ctx, claims[i]); {
			case err == nil:
				granted.Add(1)
			case !errors.Is(err, backend.ErrHeld):
				t.Errorf("acquire among rivals: got %v, want a lease or held", err)
			}
		})
		if n := granted.Load(); n != 1 {
			t.Errorf("%d of %d acquires at one time were granted, want 1", n, rivals)
		}
	}
}

func simultaneousCopies(t *trial) {
	c := t.claim("P")
	tokens := make([]int64, rivals)
	t.together(rivals, func(i int) {
		l, err := t.client(i).Acquire(t.ctx, c)
		if err != nil {
			t.Errorf("a copy of a claim whose lease lives: got %v, want that lease", err)
		}
		tokens[i] = l.Token
	})
	for _, token := range tokens[1:] {
		if token != tokens[0] {
			t.Fatalf("copies of one claim were granted the tokens %v, want one", tokens)
		}
	}
}
