package conformance

import "github.com/tenure-go/tenure/backend"

func rosterLeavesRecord(t *trial) {
	t.needRoster()
	e, other := t.entry("P", "p"), t.entry("Q", "q")
	t.enlist(t.a, e)
	t.noRecord(t.b, "enlisting")
	t.delist(t.a, e)
	t.noRecord(t.b, "delisting")
	t.enlist(t.a, e)
	c := t.claim("P")
	c.Seen = backend.SeenAt(0) // as read before
	l := t.grant(t.a, c)
	before := t.get(t.b)
	t.enlist(t.b, other)
	t.enlist(t.a, e)
	t.delist(t.a, e)
	t.unchanged(before, "enlisting and delisting of its holder and another")
	t.renew(t.a, l)
	if again := t.grant(t.a, c); again.Token != l.Token {
		t.Errorf("a repeat of the claim gives token %d beside a list, want the lease's own %d", again.Token, l.Token)
	}
	_, err := t.b.Acquire(t.ctx, t.claim("Q"))
	t.refused("acquire of a held election by a listed candidate", err, backend.ErrHeld)
	t.release(t.a, l, backend.Handover{})
	free := t.get(t.b)
	t.enlist(t.a, e)
	t.delist(t.b, other)
	t.unchanged(free, "enlisting and delisting while it is free")
	t.above(t.next(t.b, "R", 0).Token, l.Token, "a list") // by one that is not listed
}

// noRecord checks that the election is as if there had never been a holder.
func (t *trial) noRecord(s backend.LeaseStore, after string) {
	r := t.get(s)
	r.Mode = "" // native is the zero value's meaning
	if want := (backend.Record{Election: t.election}); r != want {
		t.Errorf("after %s get tells %+v, want the zero record but for its name", after, r)
	}
}

// unchanged checks that get tells what it told, but for the time that has passed.
func (t *trial) unchanged(before backend.Record, after string) {
	r := t.get(t.b)
	if r.Remaining > before.Remaining {
		t.Errorf("after %s the lease lasts for another %v, want no more than the %v of before", after, r.Remaining, before.Remaining)
	}
	r.Remaining, r.Age, r.Reserved.For = before.Remaining, before.Age, before.Reserved.For
	if r != before {
		t.Errorf("after %s get tells %+v, want %+v as before", after, r, before)
	}
}

func rosterLeases(t *trial) {
	t.needRoster()
	p, q := t.entry("P", "p"), t.entry("Q", "q")
	t.enlist(t.a, p, q)
	check := func(after string) { t.listed(t.b, t.election, after, p, q) }
	l := t.grant(t.a, t.claim("P"))
	check("a grant")
	t.renew(t.a, l)
	check("a renewal")
	t.release(t.a, l, backend.Handover{To: t.id("Q"), For: t.long})
	check("a release with a reservation")
	l = t.grant(t.b, t.claim("Q"))
	check("the successor's grant")
	t.release(t.b, l, backend.Handover{})
	check("a release")
	t.next(t.a, "R", 0)
	check("a term of one that is not listed")
	short := t.grant(t.a, t.brief("P"))
	t.afterExpiry(t.b, short)
	check("a lease's end")
	t.next(t.b, "R", 0) // by who has seen it end: a new client would have to watch it first, where challengers do
	s := t.open()
	t.grant(s, t.claim("S"))
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	check("a client that has listed nobody was closed")
}
