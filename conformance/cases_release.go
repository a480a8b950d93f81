package conformance

import (
	"errors"

	"github.com/tenure-go/tenure/backend"
)

var releaseCases = []Case{
	{Name: "after a release the next acquire succeeds at once", Rule: s5, Covers: []string{"EC27", "EC46", "R43"}, run: releaseFrees},
	{Name: "a second release succeeds too", Rule: s5, run: releaseTwice},
	{Name: "a release with another token, attempt or holder frees nothing", Rule: s5, Covers: []string{"R31", "PE10"}, run: releaseForeign},
	{Name: "a lease can be released by its attempt without its token", Rule: s5, Covers: []string{"R4", "R63"}, run: releaseByAttempt},
	{Name: "an attempt that was never granted has nothing to release", Rule: s5, Covers: []string{"EC50"}, run: releaseNothing},
	{Name: "an expired lease can't be released", Rule: s5, Waits: true, Covers: []string{"R33"}, run: releaseExpired},
	{Name: "a release after a take-over leaves the new holder alone", Rule: s5, Waits: true, Covers: []string{"R31", "PE10"}, run: releaseAfterTakeOver},
	{Name: "a late release of an earlier term leaves the same candidate's later term alone", Rule: s5, Covers: []string{"EC10", "DX4", "PE4"}, run: releaseEarlierTerm},
	{Name: "a release whose reply was lost succeeds when it is repeated", Rule: s5, Covers: []string{"R5"}, run: releaseLostReply},
	{Name: "a release that was lost succeeds when it is repeated", Rule: s5, run: releaseLost},
}

func releaseFrees(t *trial) {
	for i := range 6 {
		l := t.grant(t.client(i), t.claim(rival(i))) // by the other client, at once
		t.release(t.client(i), l, backend.Handover{})
	}
	t.isFree(t.a, "a release")
}

func releaseTwice(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	t.release(t.a, l, backend.Handover{})
	for _, s := range []backend.LeaseStore{t.a, t.b} {
		if err := s.Release(t.ctx, l, backend.Handover{}); err != nil {
			t.Errorf("a second release: got %v, want success", err)
		}
	}
	t.isFree(t.b, "a second release")
}

func releaseForeign(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	before := t.get(t.a)
	changes := map[string]func(*backend.Lease){
		"another token":                   func(l *backend.Lease) { l.Token++ },
		"another attempt":                 func(l *backend.Lease) { l.Attempt = t.attempt() },
		"another attempt and no token":    func(l *backend.Lease) { l.Attempt, l.Token = t.attempt(), 0 },
		"another holder":                  func(l *backend.Lease) { l.Holder = t.id("Q") },
		"another holder and no token":     func(l *backend.Lease) { l.Holder, l.Token = t.id("Q"), 0 },
		"another holder's own whole term": func(l *backend.Lease) { l.Holder, l.Attempt, l.Token = t.id("Q"), t.attempt(), l.Token+1 },
	}
	for what, change := range changes {
		foreign := l
		change(&foreign)
		t.refused("release with "+what, t.b.Release(t.ctx, foreign, backend.Handover{}), backend.ErrNotHeld)
		t.untouched(before, l, "a release with "+what)
	}
	t.renew(t.a, l)
}

func releaseByAttempt(t *trial) {
	k := newLink(t.a)
	c := t.claim("P")
	k.fail(lostReply)
	if _, err := k.Acquire(t.ctx, c); !errors.Is(err, errLost) {
		t.Fatalf("acquire with a lost reply: %v", err)
	}
	l := backend.Lease{Election: t.election, Holder: c.Candidate.ID, Attempt: c.Attempt, TTL: c.TTL}
	t.release(t.a, l, backend.Handover{})
	t.isFree(t.b, "a release by attempt")
	if err := t.b.Release(t.ctx, l, backend.Handover{}); err != nil {
		t.Errorf("a second release by attempt: got %v, want success", err)
	}
	t.grant(t.b, t.claim("Q"))
}

func releaseNothing(t *trial) {
	l := backend.Lease{Election: t.election, Holder: t.id("P"), Attempt: t.attempt(), TTL: t.long}
	t.refused("release in an election that never had a holder", t.a.Release(t.ctx, l, backend.Handover{}), backend.ErrNotHeld)
	t.release(t.a, t.grant(t.a, t.claim("P")), backend.Handover{})
	t.refused("release by an attempt that was never granted", t.a.Release(t.ctx, l, backend.Handover{}), backend.ErrNotHeld)
	t.isFree(t.b, "a release of nothing")
}

func releaseExpired(t *trial) {
	t.native()
	l := t.grant(t.a, t.brief("P"))
	t.afterExpiry(t.b, l)
	t.refused("release of an expired lease", t.a.Release(t.ctx, l, backend.Handover{}), backend.ErrNotHeld)
	l.Token = 0
	t.refused("release of an expired lease by attempt", t.a.Release(t.ctx, l, backend.Handover{}), backend.ErrNotHeld)
}

func releaseAfterTakeOver(t *trial) {
	old := t.grant(t.a, t.brief("P"))
	t.afterExpiry(t.b, old)
	l := t.grant(t.b, t.claim("Q"))
	before := t.get(t.b)
	t.refused("release of an expired lease after a take-over", t.a.Release(t.ctx, old, backend.Handover{}), backend.ErrNotHeld)
	old.Token = 0
	t.refused("release by attempt after a take-over", t.a.Release(t.ctx, old, backend.Handover{}), backend.ErrNotHeld)
	t.untouched(before, l, "a release by the former holder")
}

// releaseEarlierTerm: whether the store still knows that the earlier attempt was released is left to it; it must not touch the later one.
func releaseEarlierTerm(t *trial) {
	k := newLink(t.a)
	first := t.grant(k, t.claim("P"))
	t.release(k, first, backend.Handover{})
	late := k.lateCopy()
	second := t.grant(t.a, t.claim("P"))
	before := t.get(t.b)
	calls := map[string]func() error{
		"a late copy of the release": func() error { return late(t.ctx) },
		"a late release with a reservation": func() error {
			return t.b.Release(t.ctx, first, backend.Handover{To: t.id("Q"), For: t.long})
		},
		"a late release by attempt": func() error {
			first.Token = 0
			return t.b.Release(t.ctx, first, backend.Handover{})
		},
	}
	for what, call := range calls {
		if err := call(); err != nil && !errors.Is(err, backend.ErrNotHeld) {
			t.Errorf("%s of an earlier term: got %v, want success or not held", what, err)
		}
		t.untouched(before, second, what+" of an earlier term")
	}
	t.renew(t.a, second)
}

func releaseLostReply(t *trial) {
	k := newLink(t.a)
	l := t.grant(k, t.claim("P"))
	k.fail(lostReply)
	if err := k.Release(t.ctx, l, backend.Handover{}); backend.ClassOf(err) != backend.Unknown {
		t.Fatalf("release with a lost reply: %v", err)
	}
	t.isFree(t.b, "a release whose reply was lost")
	t.release(k, l, backend.Handover{})
	t.grant(t.b, t.claim("Q"))
}

func releaseLost(t *trial) {
	k := newLink(t.a)
	l := t.grant(k, t.claim("P"))
	k.fail(lostRequest)
	if err := k.Release(t.ctx, l, backend.Handover{}); backend.ClassOf(err) != backend.Unknown {
		t.Fatalf("lost release: %v", err)
	}
	t.stillHeld(t.b, l, "a release that never arrived")
	t.release(t.b, l, backend.Handover{})
	t.grant(t.b, t.claim("Q"))
}
