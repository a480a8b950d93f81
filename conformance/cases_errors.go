package conformance

import (
	"errors"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

var errorCases = []Case{
	{Name: "held carries the record of who stands in the way", Rule: s9, run: heldRecord},
	{Name: "every error tells what was tried, on which store, for which election", Rule: s9, run: opErrors},
	{Name: "unusable arguments are invalid and change nothing", Rule: s9, run: invalidArguments},
	{Name: "an election that was moved is refused with where to", Rule: s9, Covers: []string{"DX14"}, run: movedElection},
	{Name: "a record of a later format is refused", Rule: s9, run: laterFormat},
}

func heldRecord(t *trial) {
	c := described(t.claim("P"))
	l := t.grant(t.a, c)
	_, err := t.b.Acquire(t.ctx, t.claim("Q"))
	held, ok := errors.AsType[*backend.HeldError](err)
	if !ok {
		t.Fatalf("acquire of a held election: got %v, want a *HeldError", orSuccess(err))
	}
	r := held.Record
	if r.Election != t.election || r.Holder != c.Candidate || r.Token != l.Token || r.Attempt != l.Attempt || r.Counter != l.Token {
		t.Errorf("the error's record is %+v, want that of %+v", r, l)
	}
	if wait := r.Wait(t.id("Q")); wait <= 0 || wait > l.TTL {
		t.Errorf("the error tells to wait %v, want above zero and at most %v", wait, l.TTL)
	}
}

// isOp checks the wrapper of an error.
func (t *trial) isOp(err error, op string, class backend.Class) {
	e, ok := errors.AsType[*backend.OpError](err)
	if !ok {
		t.Errorf("%s: got %v, want a *backend.OpError", op, orSuccess(err))
		return
	}
	if e.Op != op || e.Store != t.limits.Store || e.Election != t.election {
		t.Errorf("the error tells (%q, %q, %q), want (%q, %q, %q)", e.Op, e.Store, e.Election, op, t.limits.Store, t.election)
	}
	if _, twice := errors.AsType[*backend.OpError](e.Err); twice {
		t.Errorf("the error %q is wrapped twice", err)
	}
	if got := backend.ClassOf(err); got != class {
		t.Errorf("%s: the error %q is of class %s, want %s", op, err, got, class)
	}
}

func opErrors(t *trial) {
	c := t.claim("P")
	l := t.grant(t.a, c)
	_, err := t.b.Acquire(t.ctx, t.claim("Q"))
	t.isOp(err, "acquire", backend.Held)
	outdated := t.claim("P")
	outdated.Seen, outdated.Abandoned = backend.SeenAt(l.Token+1), []backend.Attempt{c.Attempt}
	_, err = t.b.Acquire(t.ctx, outdated)
	t.isOp(err, "acquire", backend.Outdated)
	t.stillHeld(t.b, l, "an outdated claim")
	t.release(t.a, l, backend.Handover{})
	_, err = t.a.Acquire(t.ctx, c)
	t.isOp(err, "acquire", backend.NotHeld)
	_, err = t.a.Renew(t.ctx, l)
	t.isOp(err, "renew", backend.NotHeld)
	l.Attempt = t.attempt()
	t.isOp(t.a.Release(t.ctx, l, backend.Handover{}), "release", backend.NotHeld)
}

func invalidArguments(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	before := t.get(t.a)
	claims := map[string]func(*backend.Claim){
		"no attempt":                func(c *backend.Claim) { c.Attempt = backend.Attempt{} },
		"a negative floor":          func(c *backend.Claim) { c.Floor = -1 },
		"the greatest floor":        func(c *backend.Claim) { c.Floor = backend.MaxToken },
		"its own attempt abandoned": func(c *backend.Claim) { c.Abandoned = []backend.Attempt{c.Attempt} },
		"no TTL":                    func(c *backend.Claim) { c.TTL = 0 },
		"a negative TTL":            func(c *backend.Claim) { c.TTL = -t.ttl },
	}
	for what, change := range claims {
		c := t.claim("Q")
		change(&c)
		_, err := t.b.Acquire(t.ctx, c)
		t.refused("acquire with "+what, err, backend.ErrInvalid)
	}
	leases := map[string]func(*backend.Lease){
		"no token":        func(l *backend.Lease) { l.Token = 0 },
		"an absurd token": func(l *backend.Lease) { l.Token = backend.MaxToken + 1 },
		"no attempt":      func(l *backend.Lease) { l.Attempt = backend.Attempt{} },
		"no TTL":          func(l *backend.Lease) { l.TTL = 0 },
	}
	for what, change := range leases {
		bad := l
		change(&bad)
		_, err := t.a.Renew(t.ctx, bad)
		t.refused("renewal with "+what, err, backend.ErrInvalid)
	}
	for what, h := range map[string]backend.Handover{
		"a negative reservation": {For: -1}, "a reservation for somebody for no time": {To: t.id("Q")},
	} {
		t.refused("release with "+what, t.a.Release(t.ctx, l, h), backend.ErrInvalid)
	}
	t.untouched(before, l, "calls with unusable arguments")
}

func (t *trial) plant(moved string, version int) {
	if t.suite.Plant == nil {
		t.stop(Untested, "Suite.Plant is not set")
	}
	t.suite.Plant(opener{t}, t.election, moved, version)
}

func movedElection(t *trial) {
	const to = "redis://elsewhere.example:6379"
	t.plant(to, backend.Version)
	for _, s := range []backend.LeaseStore{t.a, t.b} {
		_, err := s.Acquire(t.ctx, t.claim("P"))
		t.refused("acquire of a moved election", err, backend.ErrMoved)
		if err != nil && !strings.Contains(err.Error(), to) {
			t.Errorf("the error %q does not tell where the election was moved", err)
		}
		if r := t.get(s); r.MovedTo != to || r.Held() {
			t.Errorf("get tells %+v, want no holder and moved to %s", r, to)
		}
	}
}

func laterFormat(t *trial) {
	t.plant("", backend.Version+1)
	before := t.get(t.a)
	_, err := t.a.Acquire(t.ctx, t.claim("P"))
	t.refused("acquire of a record of a later format", err, backend.ErrVersion)
	if r := t.get(t.b); r.Version != backend.Version+1 || r.Held() || r.Counter != before.Counter {
		t.Errorf("get tells %+v after a refused claim, want %+v", r, before)
	}
}
