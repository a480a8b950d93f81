package conformance

import (
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var reservationCases = []Case{
	{Name: "a reservation keeps others out and lets its candidate in", Rule: s5, Covers: []string{"DX9"}, run: reserveForOne},
	{Name: "a reservation makes nobody holder and is over after its time", Rule: s5, Waits: true, Covers: []string{"DX9"}, run: reservationEnds},
	{Name: "a reservation for nobody keeps everybody out until it is over", Rule: s5, Waits: true, Covers: []string{"DX20"}, run: reserveForNobody},
	{Name: "a reservation is cut to the lease's TTL", Rule: s5, Waits: true, run: reservationIsCut},
	{Name: "a reservation that was used is over", Rule: s5, run: reservationUsed},
	{Name: "an expired lease reserves nothing when it is released", Rule: s5, Waits: true, Covers: []string{"DX20"}, run: expiredReservesNothing},
}

// reservedFor checks that s is out of the election because of a reservation, and that both the error and Get show it.
func (t *trial) reservedFor(s backend.LeaseStore, name, to string, most time.Duration) {
	_, err := s.Acquire(t.ctx, t.claim(name))
	held, ok := errors.AsType[*backend.HeldError](err)
	if !ok {
		t.Errorf("acquire by %s while the election is reserved for %q: got %v, want held", name, to, orSuccess(err))
		return
	}
	for what, r := range map[string]backend.Record{"the error's record": held.Record, "the record": t.get(s)} {
		if r.Held() || r.Reserved.To != to || r.Reserved.For <= 0 || r.Reserved.For > most {
			t.Errorf("%s is %+v, want no holder and a reservation for %q of at most %v", what, r, to, most)
		}
	}
	if wait := held.Record.Wait(t.id(name)); wait <= 0 || wait > most {
		t.Errorf("the error tells to wait %v, want above zero and at most %v", wait, most)
	}
}

func reserveForOne(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	t.release(t.a, l, backend.Handover{To: t.id("Q"), For: t.long})
	t.reservedFor(t.b, "R", t.id("Q"), t.long)
	t.reservedFor(t.a, "P", t.id("Q"), t.long) // the former holder is another, too
	got := t.grant(t.b, t.claim("Q"))
	t.above(got.Token, l.Token, "a reservation")
	t.renew(t.b, got)
}

func reservationEnds(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	sent := time.Now()
	t.release(t.a, l, backend.Handover{To: t.id("Q"), For: t.ttl})
	got := t.succeed(t.b, t.claim("R"), time.Now().Add(t.ttl+t.limits.ExpiryLag+generous))
	t.notBefore(sent, t.ttl, "a reservation")
	t.above(got.Token, l.Token, "a reservation")
}

// notBefore checks, right after the reply to a grant, that at least ttl has passed since what it waited for was asked for.
func (t *trial) notBefore(sent time.Time, ttl time.Duration, what string) {
	if passed := time.Since(sent); passed < ttl-tolerance(ttl)-t.limits.ClockStep {
		t.Errorf("granted to another %v after the start of %s of %v", passed, what, ttl)
	}
}

func reserveForNobody(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	sent := time.Now()
	t.release(t.a, l, backend.Handover{For: t.ttl})
	reserved := t.until(sent, backend.Lease{TTL: t.ttl})
	_, err := t.a.Acquire(t.ctx, t.claim("P"))
	t.inTime(reserved)
	t.refused("acquire by the former holder while the election is kept free", err, backend.ErrHeld)
	_, err = t.b.Acquire(t.ctx, t.claim("Q"))
	t.inTime(reserved)
	t.refused("acquire while the election is kept free", err, backend.ErrHeld)
	t.succeed(t.b, t.claim("Q"), time.Now().Add(t.ttl+t.limits.ExpiryLag+generous))
	t.notBefore(sent, t.ttl, "a reservation for nobody")
}

func reservationIsCut(t *trial) {
	sent := time.Now()
	l := t.grant(t.a, t.brief("P"))
	end := t.until(sent, l)
	l.TTL = 0 // so that only the record tells what it must be cut to
	err := t.a.Release(t.ctx, l, backend.Handover{To: t.id("Q"), For: time.Hour})
	t.inTime(end)
	if err != nil {
		t.Fatalf("release with a reservation longer than the TTL: %v", err)
	}
	if r := t.get(t.b); r.Reserved.For > t.ttl+t.limits.Granularity {
		t.Errorf("reserved for %v, want at most the TTL of %v", r.Reserved.For, t.ttl)
	}
	t.succeed(t.b, t.claim("R"), time.Now().Add(t.ttl+t.limits.ExpiryLag+generous))
}

func reservationUsed(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	t.release(t.a, l, backend.Handover{To: t.id("Q"), For: t.long})
	got := t.grant(t.b, t.claim("Q"))
	if r := t.get(t.a); r.Reserved != (backend.Reservation{}) {
		t.Errorf("the record shows the reservation %+v while the election is held, want none", r.Reserved)
	}
	t.release(t.b, got, backend.Handover{})
	t.isFree(t.a, "the release of a reserved term")
	t.grant(t.a, t.claim("R"))
}

func expiredReservesNothing(t *trial) {
	t.native()
	l := t.grant(t.a, t.brief("P"))
	t.afterExpiry(t.b, l)
	t.refused("release of an expired lease with a reservation", t.a.Release(t.ctx, l, backend.Handover{To: t.id("Q"), For: t.ttl}), backend.ErrNotHeld)
	if r := t.get(t.b); r.Reserved != (backend.Reservation{}) {
		t.Errorf("an expired lease has reserved the election: %+v", r.Reserved)
	}
	t.grant(t.b, t.claim("R"))
}
