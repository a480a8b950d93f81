package conformance

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

var renewCases = []Case{
	{Name: "a renewed lease outlives its first TTL", Rule: s4, Waits: true, run: renewExtends},
	{Name: "a lease that is renewed in time keeps its token over many TTLs", Rule: s4, Waits: true, Covers: []string{"R24"}, run: renewManyTimes},
	{Name: "an expired lease is not revived though nobody has taken it", Rule: s4, Waits: true, Covers: []string{"R33", "DX21"}, run: renewExpired},
	{Name: "an expired lease is not renewed after another has taken the election", Rule: s4, Waits: true, Covers: []string{"R17", "PE1", "PE12"}, run: renewAfterTakeOver},
	{Name: "a lease with another token, attempt or holder is not renewed", Rule: s4, Covers: []string{"PE1"}, run: renewForeign},
	{Name: "a released lease is not renewed", Rule: s4, run: renewReleased},
	{Name: "a late renewal of an earlier term leaves the same candidate's later term alone", Rule: s4, Covers: []string{"DX4", "PE4"}, run: renewEarlierTerm},
	{Name: "an election without a holder has nothing to renew", Rule: s4, run: renewNothing},
	{Name: "a renewal whose reply was lost can be repeated", Rule: s4, run: renewLostReply},
}

func renewExtends(t *trial) {
	sent := time.Now()
	l := t.grant(t.a, t.brief("P"))
	over := time.Now().Add(l.TTL)
	t.wait(t.ttl / 2)
	again := time.Now()
	renewed, err := t.a.Renew(t.ctx, l)
	t.inTime(t.until(sent, l))
	if err != nil {
		t.Fatalf("renewal of a live lease: %v", err)
	}
	t.waitUntil(over.Add(t.ttl / 8))
	_, err = t.b.Acquire(t.ctx, t.claim("Q"))
	t.inTime(t.until(again, renewed))
	t.refused("acquire by another after the first TTL but within the renewed one", err, backend.ErrHeld)
}

func renewManyTimes(t *trial) {
	sent := time.Now()
	l := t.grant(t.a, t.brief("P"))
	for range 9 {
		t.wait(t.ttl / 3)
		again := time.Now()
		renewed, err := t.a.Renew(t.ctx, l)
		t.inTime(t.until(sent, l))
		sent = again
		if err != nil || renewed.Token != l.Token {
			t.Fatalf("renewal in time: got token %d and %v, want token %d", renewed.Token, orSuccess(err), l.Token)
		}
	}
}

func renewExpired(t *trial) {
	t.native()
	l := t.grant(t.a, t.brief("P"))
	t.afterExpiry(t.b, l)
	for _, s := range []backend.LeaseStore{t.a, t.b} {
		_, err := s.Renew(t.ctx, l)
		t.refused("renewal of an expired lease", err, backend.ErrNotHeld)
	}
	t.isFree(t.b, "renewals of an expired lease")
	t.grant(t.b, t.claim("Q"))
}

func renewAfterTakeOver(t *trial) {
	old := t.grant(t.a, t.brief("P"))
	t.afterExpiry(t.b, old)
	l := t.grant(t.b, t.claim("Q"))
	before := t.get(t.b)
	_, err := t.a.Renew(t.ctx, old)
	t.refused("renewal of an expired lease after a take-over", err, backend.ErrNotHeld)
	t.untouched(before, l, "a renewal by the former holder")
	t.release(t.b, l, backend.Handover{})
	_, err = t.a.Renew(t.ctx, old)
	t.refused("renewal of an expired lease after another's whole term", err, backend.ErrNotHeld)
	t.isFree(t.b, "a renewal by an earlier holder")
}

// untouched checks that the lease lives, was not renewed and ends no later than before.
func (t *trial) untouched(before backend.Record, l backend.Lease, after string) {
	t.stillHeld(t.a, l, after)
	r := t.read(t.b, l.Election)
	if r.Remaining > before.Remaining || r.Renewals != before.Renewals || r.TTL != before.TTL || r.Reserved != before.Reserved {
		t.Errorf("after %s the record is %+v, want it as before: %+v", after, r, before)
	}
}

func renewForeign(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	before := t.get(t.b)
	changes := map[string]func(*backend.Lease){
		"an older token":    func(l *backend.Lease) { l.Token = max(1, l.Token-1) },
		"a later token":     func(l *backend.Lease) { l.Token++ },
		"another attempt":   func(l *backend.Lease) { l.Attempt = t.attempt() },
		"another holder":    func(l *backend.Lease) { l.Holder = t.id("Q") },
		"another term's id": func(l *backend.Lease) { l.Token++; l.Attempt = t.attempt() },
	}
	for what, change := range changes {
		foreign := l
		change(&foreign)
		if foreign == l {
			continue // the first token has no older one
		}
		_, err := t.b.Renew(t.ctx, foreign)
		t.refused("renewal with "+what, err, backend.ErrNotHeld)
		t.untouched(before, l, "a renewal with "+what)
	}
}

func renewReleased(t *trial) {
	k := newLink(t.a)
	l := t.grant(k, t.claim("P"))
	t.renew(k, l)
	late := k.lateCopy()
	t.release(k, l, backend.Handover{})
	_, err := t.a.Renew(t.ctx, l)
	t.refused("renewal of a released lease", err, backend.ErrNotHeld)
	t.refused("a late copy of a renewal after the release", late(t.ctx), backend.ErrNotHeld)
	t.isFree(t.b, "renewals of a released lease")
}

func renewEarlierTerm(t *trial) {
	k := newLink(t.a)
	first := t.grant(k, t.claim("P"))
	t.renew(k, first)
	late := k.lateCopy()
	t.release(k, first, backend.Handover{})
	second := t.grant(t.a, t.claim("P"))
	before := t.get(t.b)
	t.refused("a late renewal of an earlier term", late(t.ctx), backend.ErrNotHeld)
	t.untouched(before, second, "a late renewal of an earlier term")
	t.renew(t.a, second)
}

func renewNothing(t *trial) {
	_, err := t.a.Renew(t.ctx, backend.Lease{Election: t.election, Holder: t.id("P"), Token: 1, Attempt: t.attempt(), TTL: t.long})
	t.refused("renewal in an election that never had a holder", err, backend.ErrNotHeld)
	t.isFree(t.b, "a renewal of nothing")
}

func renewLostReply(t *trial) {
	k := newLink(t.a)
	l := t.grant(k, t.claim("P"))
	k.fail(lostReply)
	if _, err := k.Renew(t.ctx, l); backend.ClassOf(err) != backend.Unknown {
		t.Fatalf("renewal with a lost reply: %v", err)
	}
	t.renew(t.b, l)
}
