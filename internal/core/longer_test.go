package core

import (
	"testing"
	"time"
)

// EC73: a store that grants or renews for longer than was asked prolongs no belief: the successor may go by what was asked.
func TestALongerLeaseProlongsNoBelief(t *testing.T) {
	_, most := simMargins.Deadlines(simTTL)
	h := newHand(t, 0)
	check := func(after string) {
		t.Helper()
		a, believes := h.find(DoBelieve)
		if !believes || !a.Belief.Leading || time.Duration(a.Belief.Hard) > most {
			t.Errorf("after %s: it believes %+v, want no more than %v", after, a.Belief, most)
		}
	}
	h.step(Event{Kind: Want, Mode: Try, Caller: 1})
	claim := h.ask()
	long := leaseOf(claim, 5)
	long.TTL = 12 * simTTL
	h.answer(claim, Event{Kind: Acquired, Lease: long})
	check("a grant")
	for range 3 {
		h.answer(h.must(DoRenew), Event{Kind: Renewed, Lease: long})
		check("a renewal")
	}
}
