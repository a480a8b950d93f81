package conformance

import (
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var acquireCases = []Case{
	{Name: "a repeat of a claim gives the same token and extends the lease", Rule: s3, Waits: true, run: repeatExtends},
	{Name: "a claim whose reply was lost gives the same token when it is repeated, with no wait", Rule: s3, Covers: []string{"R1", "R3", "EC11", "DX10"}, run: lostReplyOfAcquire},
	{Name: "a claim that was lost is granted when it is repeated", Rule: s3, run: lostAcquire},
	{Name: "another attempt of the same candidate is held", Rule: s3, Covers: []string{"DX10", "EC35", "PE8"}, run: otherAttempt},
	{Name: "an attempt of another candidate is held", Rule: s3, run: stolenAttempt},
	{Name: "a released attempt is never granted again", Rule: s3, run: releasedAttempt},
	{Name: "an expired attempt is never granted again", Rule: s3, Waits: true, run: expiredAttempt},
	{Name: "a late copy of a claim after the release grants nothing", Rule: s3, Covers: []string{"DX10"}, run: lateCopyOfAcquire},
	{Name: "a late copy of a claim while another holds is refused and leaves the other alone", Rule: s3, Covers: []string{"DX4"}, run: lateCopyWhileHeld},
	{Name: "an abandoned attempt of the same candidate is passed over", Rule: s3, run: abandonedAttempt},
	{Name: "an abandoned attempt of another candidate is held", Rule: s3, run: abandonedByOther},
	{Name: "a live attempt that is not listed as abandoned is held", Rule: s3, run: wronglyAbandoned},
}

func repeatExtends(t *trial) {
	c := t.brief("P")
	sent := time.Now()
	first := t.grant(t.a, c)
	over := time.Now().Add(first.TTL)
	t.wait(t.ttl / 2)
	again := time.Now()
	second, err := t.b.Acquire(t.ctx, c)
	t.inTime(t.until(sent, first))
	if err != nil || second.Token != first.Token {
		t.Fatalf("a repeat while the lease lives: got token %d and %v, want token %d", second.Token, err, first.Token)
	}
	if r := t.get(t.a); r.Counter != first.Token {
		t.Errorf("the counter is %d after a repeat, want %d", r.Counter, first.Token)
	}
	t.waitUntil(over.Add(t.ttl / 8))
	_, err = t.a.Acquire(t.ctx, t.claim("Q"))
	t.inTime(t.until(again, second))
	t.refused("acquire by another after the first TTL but within the repeat's", err, backend.ErrHeld)
}

func lostReplyOfAcquire(t *trial) {
	l := newLink(t.a)
	c := t.claim("P")
	l.fail(lostReply)
	if _, err := l.Acquire(t.ctx, c); backend.ClassOf(err) != backend.Unknown {
		t.Fatalf("acquire with a lost reply: %v", err)
	}
	held := t.get(t.b)
	again := t.grant(t.b, c) // the client may reconnect elsewhere
	if again.Token != held.Token || again.Token != t.get(t.b).Counter {
		t.Errorf("the lost grant has token %d, its repeat %d: want the same", held.Token, again.Token)
	}
	t.renew(l, again)
	t.release(l, again, backend.Handover{})
}

func lostAcquire(t *trial) {
	l := newLink(t.a)
	c := t.claim("P")
	l.fail(lostRequest)
	if _, err := l.Acquire(t.ctx, c); backend.ClassOf(err) != backend.Unknown {
		t.Fatalf("lost acquire: %v", err)
	}
	t.isFree(t.b, "a claim that never arrived")
	t.renew(t.a, t.grant(l, c))
}

func otherAttempt(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	for _, s := range []backend.LeaseStore{t.a, t.b} {
		_, err := s.Acquire(t.ctx, t.claim("P"))
		t.refused("acquire by the holder with another attempt", err, backend.ErrHeld)
	}
	t.stillHeld(t.b, l, "claims of the same candidate")
	t.renew(t.a, l)
}

func stolenAttempt(t *trial) {
	c := t.claim("P")
	l := t.grant(t.a, c)
	c.Candidate.ID = t.id("Q")
	_, err := t.b.Acquire(t.ctx, c)
	t.refused("acquire by another candidate with the holder's attempt", err, backend.ErrHeld)
	t.stillHeld(t.a, l, "a claim with the holder's attempt")
}

func releasedAttempt(t *trial) {
	c := t.claim("P")
	t.release(t.a, t.grant(t.a, c), backend.Handover{})
	for _, s := range []backend.LeaseStore{t.a, t.b} {
		_, err := s.Acquire(t.ctx, c)
		t.refused("acquire with an attempt that was released", err, backend.ErrNotHeld)
	}
	t.isFree(t.a, "a claim with a spent attempt")
	t.grant(t.a, t.claim("P")) // a new attempt of the same candidate is welcome
}

func expiredAttempt(t *trial) {
	t.native()
	c := t.brief("P")
	l := t.grant(t.a, c)
	t.afterExpiry(t.b, l)
	_, err := t.a.Acquire(t.ctx, c)
	t.refused("acquire with an attempt whose lease has expired", err, backend.ErrNotHeld)
	t.isFree(t.b, "a claim with a spent attempt")
	t.above(t.grant(t.a, t.claim("P")).Token, l.Token, "expiry")
}

func lateCopyOfAcquire(t *trial) {
	l := newLink(t.a)
	lease := t.grant(l, t.claim("P"))
	late := l.lateCopy()
	t.release(l, lease, backend.Handover{})
	t.refused("a late copy of the acquire after the release", late(t.ctx), backend.ErrNotHeld)
	t.isFree(t.b, "a late copy of an acquire")
	t.grant(t.b, t.claim("Q"))
}

func lateCopyWhileHeld(t *trial) {
	l := newLink(t.a)
	lease := t.grant(l, t.claim("P"))
	late := l.lateCopy()
	t.release(t.a, lease, backend.Handover{})
	second := t.grant(t.a, t.claim("P")) // the same candidate leads again
	t.refused("a late copy of an acquire while a later term lives", late(t.ctx), backend.ErrHeld)
	t.stillHeld(t.b, second, "a late copy of the acquire of an earlier term")
	t.release(t.a, second, backend.Handover{})
	other := t.grant(t.b, t.claim("Q"))
	t.refused("a late copy of an acquire while another holds", late(t.ctx), backend.ErrHeld)
	t.stillHeld(t.a, other, "a late copy of the acquire of an earlier term")
}

func abandonedAttempt(t *trial) {
	l := newLink(t.a)
	lost := t.claim("P")
	l.fail(lostReply)
	if _, err := l.Acquire(t.ctx, lost); !errors.Is(err, errLost) {
		t.Fatalf("acquire with a lost reply: %v", err)
	}
	old := t.get(t.b)
	c := t.claim("P")
	c.Abandoned = []backend.Attempt{t.attempt(), lost.Attempt} // the first was never granted
	got, err := t.b.Acquire(t.ctx, c)
	if err != nil {
		t.Fatalf("acquire while an attempt that this candidate has abandoned holds: got %v, want a lease", err)
	}
	t.checkLease(got, c)
	t.above(got.Token, old.Token, "an abandoned lease")
	_, err = t.a.Renew(t.ctx, backend.Lease{Election: t.election, Holder: old.Holder.ID, Token: old.Token, Attempt: old.Attempt, TTL: t.long})
	t.refused("renewal of an abandoned lease that was passed over", err, backend.ErrNotHeld)
	_, err = l.Acquire(t.ctx, lost)
	t.refused("a late copy of the abandoned claim", err, backend.ErrHeld)
	t.stillHeld(t.a, got, "late calls of an abandoned attempt")
}

func abandonedByOther(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	c := t.claim("Q")
	c.Abandoned = []backend.Attempt{l.Attempt}
	_, err := t.b.Acquire(t.ctx, c)
	t.refused("acquire by Q that lists P's attempt as abandoned", err, backend.ErrHeld)
	t.stillHeld(t.a, l, "a claim that abandons another's attempt")
}

func wronglyAbandoned(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	c := t.claim("P")
	c.Abandoned = []backend.Attempt{t.attempt(), t.attempt()}
	_, err := t.b.Acquire(t.ctx, c)
	t.refused("acquire that lists other attempts as abandoned", err, backend.ErrHeld)
	t.stillHeld(t.a, l, "a claim that abandons other attempts")
}
