package core

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// What seeds of the simulation reach too rarely to be relied on; see docs/simulation-mutants.md.

// A grant whose token isn't above all that were seen is not led under, and its attempt is not used again.
func TestATokenThatIsNotAboveTheFloorIsRefused(t *testing.T) {
	for _, token := range []int64{8, 9} {
		h := newHand(t, 0)
		h.step(Event{Kind: Want, Mode: Run, Caller: 1})
		h.answer(h.must(DoGet), Event{Kind: GotRecord, Record: backend.Record{Counter: 9}})
		a := h.must(DoAcquire)
		if a.Claim.Floor != 9 {
			t.Errorf("the claim's floor is %d", a.Claim.Floor)
		}
		h.answer(a, Event{Kind: Acquired, Lease: leaseOf(a, token)})
		if _, led := h.find(DoBegin); led {
			t.Errorf("it leads under token %d, after 9", token)
		}
		if r := h.must(DoRelease); r.Lease.Attempt != a.Claim.Attempt {
			t.Errorf("it gives back %v", r.Lease.Attempt)
		}
		h.answer(h.must(DoGet), Event{Kind: GotRecord, Record: backend.Record{Counter: 9}})
		if next := h.must(DoAcquire); next.Claim.Attempt == a.Claim.Attempt {
			t.Error("it claims with the same attempt")
		}
	}
}

// A guard that knows a higher token is outbid: the next claim says how high the token must be.
func TestAGuardsMarkIsTheNextClaimsFloor(t *testing.T) {
	h := newHand(t, 1)
	h.step(Event{Kind: Want, Mode: Run, Caller: 1})
	a := h.ask()
	h.answer(a, Event{Kind: Acquired, Lease: leaseOf(a, 5)})
	h.answer(h.must(DoSeal), Event{Kind: Sealed, Err: &fence.StaleError{Mark: fence.Token{Value: 70}}})
	h.answer(h.must(DoRelease), Event{Kind: Released})
	next := h.ask()
	if next.Claim.Floor != 70 || next.Claim.Attempt == a.Claim.Attempt {
		t.Errorf("the next claim has floor %d; the same attempt: %v", next.Claim.Floor, next.Claim.Attempt == a.Claim.Attempt)
	}
}

// held lets the machine claim, and a wake-up arrive before the answer if asked for; it returns how long the machine then waits.
func held(t *testing.T, woken bool) (*hand, time.Duration) {
	t.Helper()
	h := newHand(t, 0)
	h.step(Event{Kind: Want, Mode: Run, Caller: 1})
	w := h.must(DoOpenWatch)
	h.answer(w, Event{Kind: WatchOpened})
	a := h.ask()
	if woken {
		h.step(Event{Kind: Woken, Request: w.Request})
	}
	r := backend.Record{Holder: backend.Candidate{ID: "b"}, Token: 3, Counter: 3, TTL: simTTL, Remaining: simTTL}
	h.answer(a, Event{Kind: Acquired, Err: &backend.HeldError{Record: r}})
	if _, again := h.find(DoAcquire); again {
		return h, 0
	}
	due, _ := h.Due()
	return h, time.Duration(due - h.now)
}

// The answer to a claim may be older than the change that was reported meanwhile.
func TestAWakeUpDuringAClaimIsNotForgotten(t *testing.T) {
	if _, wait := held(t, true); wait > 100*time.Millisecond {
		t.Errorf("it looks again after %v", wait)
	}
	if _, wait := held(t, false); wait < simTTL/2 {
		t.Errorf("without a wake-up it looks again after %v already", wait)
	}
}

func TestAWatchThatHasEndedIsOpenedAgain(t *testing.T) {
	h, _ := held(t, false)
	h.step(Event{Kind: WatchClosed, Request: h.watch.request, Err: errors.New("reset")})
	h.must(DoOpenWatch)
	if h.now > int64(time.Hour)+int64(2*simTTL) {
		t.Errorf("it is opened %v later", time.Duration(h.now-int64(time.Hour)))
	}
}
