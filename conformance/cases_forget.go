package conformance

import (
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var forgetCases = []Case{
	{Name: "a forgotten election has no record and is listed no more", Rule: forget, run: forgetFree},
	{Name: "tokens grow over forgetting", Rule: forget, run: forgetTokens},
	{Name: "tokens grow over forgetting an election with a floor far above others", Rule: forget, run: forgetRaised},
	{Name: "tokens grow over forgetting although an election with lower tokens was forgotten later", Rule: forget, run: forgetLower},
	{Name: "a held election is not forgotten", Rule: forget, run: forgetHeld},
	{Name: "a reserved election is not forgotten", Rule: forget, run: forgetReserved},
	{Name: "an election whose lease has ended is forgotten", Rule: forget, Waits: true, run: forgetEnded},
	{Name: "a moved election is not forgotten", Rule: forget, run: forgetMoved},
	{Name: "an election is not forgotten when its record is another by now", Rule: forget, run: forgetOutdated},
	{Name: "forgetting an election without a record is no error", Rule: forget, run: forgetNone},
	{Name: "late calls of a forgotten election's terms renew, release and outdate nothing", Rule: forget, run: forgetLate},
	{Name: "of forgetting and a claim at one time none undoes the other", Rule: forget, run: forgetAtOnce},
	{Name: "forgetting elections with any names leaves the others alone", Rule: forget, run: forgetNames},
}

// forgotten forgets an election. A store whose tokens come from its clock may need a moment, until the clock has passed the counter.
func (t *trial) forgotten(s *recorder, r backend.Record) {
	for until := time.Now().Add(generous); ; t.wait(t.step()) {
		late := time.Now().After(until)
		err := s.Forget(t.ctx, r)
		if err == nil {
			return
		}
		if late || !errors.Is(err, backend.ErrInvalid) {
			t.Fatalf("forgetting a free election: got %v, want success", err)
		}
	}
}

func forgetFree(t *trial) {
	t.needForget()
	l := t.next(t.a, "P", 0)
	t.forgotten(t.a, t.get(t.b))
	for _, s := range []*recorder{t.a, t.b, t.open()} {
		t.noRecord(s, "forgetting")
	}
	if implements[backend.Lister](t) && t.isListed(t.b, t.election) {
		t.Errorf("a forgotten election is listed")
	}
	c := t.claim("Q")
	c.Seen = backend.SeenAt(0) // as read now
	again := t.grant(t.b, c)
	t.above(again.Token, l.Token, "forgetting")
	t.renew(t.b, again)
	t.stillHeld(t.a, again, "forgetting and a grant")
	if implements[backend.Lister](t) && !t.isListed(t.a, t.election) {
		t.Errorf("an election that was granted after it was forgotten is not listed")
	}
	t.release(t.b, again, backend.Handover{})
}

func forgetTokens(t *trial) {
	t.needForget()
	var last int64
	for i := range 10 {
		l := t.next(t.client(i), rival(i), 0)
		last = t.above(l.Token, last, "forgetting")
		t.forgotten(t.client(i+1), t.get(t.client(i)))
	}
	for _, c := range []*recorder{t.a, t.b} {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	t.above(t.next(t.open(), "P", 0).Token, last, "forgetting, after which all clients were closed")
}

// forgetRaised lifts a counter above what the store would give by itself. A store may refuse to forget it.
func forgetRaised(t *trial) {
	t.needForget()
	const far = 1 << 30 // microseconds: eighteen minutes
	var last int64
	for i := range 3 {
		l := t.next(t.a, "P", last+far)
		last = t.above(l.Token, last+far, "a floor")
		if i == 1 && t.raises() {
			t.raise(t.b, last+far)
			last += far
		}
		before := t.get(t.b)
		err := t.b.Forget(t.ctx, before)
		switch {
		case err == nil:
			t.noRecord(t.a, "forgetting")
		case errors.Is(err, backend.ErrInvalid):
			t.unchanged(before, "a refusal to forget")
		default:
			t.Errorf("forgetting an election with the counter %d: got %v, want success, or invalid where the store's clock has not passed it", before.Counter, err)
		}
		if err == nil && t.raises() {
			t.raise(t.a, 1) // no way below what it had
		}
		last = t.above(t.next(t.a, "Q", 0).Token, last, "forgetting an election with a floor")
	}
}

func forgetHeld(t *trial) {
	t.needForget()
	before := t.next(t.a, "P", 0)
	free := t.get(t.b)
	c := t.claim("P")
	l := t.grant(t.a, c)
	for what, r := range map[string]backend.Record{"as it is": t.get(t.b), "as read before": free} {
		err := t.b.Forget(t.ctx, r)
		t.refused("forgetting a held election "+what, err, backend.ErrHeld)
		if held, ok := errors.AsType[*backend.HeldError](err); !ok || held.Record.Holder.ID != c.Candidate.ID || held.Record.Token != l.Token {
			t.Errorf("forgetting a held election %s: got %v, want a HeldError with the record", what, orSuccess(err))
		}
	}
	t.stillHeld(t.b, l, "refusals to forget")
	t.renew(t.a, l)
	t.release(t.a, l, backend.Handover{})
	t.above(t.next(t.b, "Q", 0).Token, max(l.Token, before.Token), "a refusal to forget")
}

func forgetReserved(t *trial) {
	t.needForget()
	for _, to := range []string{t.id("Q"), ""} {
		l := t.grant(t.a, t.claim("P"))
		t.release(t.a, l, backend.Handover{To: to, For: t.long})
		r := t.get(t.b)
		t.refused("forgetting a reserved election", t.b.Forget(t.ctx, r), backend.ErrHeld)
		t.unchanged(r, "a refusal to forget")
		if to == "" {
			return // reserved for nobody until the end of the case
		}
		t.reservedFor(t.b, "R", to, t.long)
		t.release(t.a, t.grant(t.a, t.claim("Q")), backend.Handover{})
	}
}

func forgetEnded(t *trial) {
	t.needForget()
	l := t.grant(t.a, t.brief("P"))
	t.afterExpiry(t.b, l)
	t.forgotten(t.b, t.get(t.b))
	t.noRecord(t.a, "forgetting")
	_, err := t.a.Renew(t.ctx, l)
	t.refused("renewal of a forgotten lease", err, backend.ErrNotHeld)
	t.above(t.next(t.a, "Q", 0).Token, l.Token, "expiry and forgetting")
}

func forgetMoved(t *trial) {
	t.needForget()
	if t.suite.Plant == nil {
		t.stop(Untested, "Suite.Plant is not set")
	}
	t.next(t.a, "P", 0)
	before := t.get(t.b)
	t.suite.Plant(opener{t}, t.election, "elsewhere:", backend.Version)
	moved := t.get(t.b)
	for what, r := range map[string]backend.Record{"as read before": before, "as it is": moved} {
		t.refused("forgetting a moved election "+what, t.b.Forget(t.ctx, r), backend.ErrMoved)
	}
	t.unchanged(moved, "a refusal to forget")
	_, err := t.a.Acquire(t.ctx, t.claim("Q"))
	t.refused("acquire of a moved election", err, backend.ErrMoved)
}
