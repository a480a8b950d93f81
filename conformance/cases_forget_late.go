package conformance

import (
	"errors"

	"github.com/tenure-go/tenure/backend"
)

func forgetOutdated(t *trial) {
	t.needForget()
	first := t.next(t.a, "P", 0)
	read := t.get(t.b)
	t.next(t.a, "P", 0)
	now := t.get(t.b)
	foreign, higher := now, now
	foreign.Attempt = t.attempt()
	higher.Counter++
	for what, r := range map[string]backend.Record{
		"as it was before another term": read, "with another attempt": foreign, "with another counter": higher, "that nobody has read": {Election: t.election},
	} {
		t.refused("forgetting the record "+what, t.b.Forget(t.ctx, r), backend.ErrOutdated)
		t.unchanged(now, "a refusal to forget")
	}
	if t.raises() {
		t.raise(t.a, now.Counter+10)
		t.refused("forgetting the record as it was before the counter was raised", t.b.Forget(t.ctx, now), backend.ErrOutdated)
	}
	t.above(t.next(t.a, "Q", 0).Token, max(first.Token, now.Counter), "refusals to forget")
}

func forgetNone(t *trial) {
	t.needForget()
	for _, r := range []backend.Record{{Election: t.election}, {Election: t.election, Counter: 7, Attempt: t.attempt(), Version: backend.Version}} {
		if err := t.a.Forget(t.ctx, r); err != nil {
			t.Errorf("forgetting an election that never had a holder: %v", err)
		}
		t.noRecord(t.b, "forgetting what is not there")
	}
	l := t.next(t.a, "P", 0)
	r := t.get(t.b)
	t.forgotten(t.b, r)
	for _, s := range []*recorder{t.a, t.b} {
		if err := s.Forget(t.ctx, r); err != nil {
			t.Errorf("forgetting a forgotten election again: %v", err)
		}
	}
	t.noRecord(t.a, "forgetting it again")
	t.above(t.next(t.a, "P", 0).Token, l.Token, "forgetting it again")
	t.refused("forgetting an election without a name", t.a.Forget(t.ctx, backend.Record{}), backend.ErrInvalid)
}

// forgetLate sends copies of the calls of a term that is forgotten. A claim that says nothing of what its candidate had seen may be granted: as any other, above all tokens.
func forgetLate(t *trial) {
	t.needForget()
	first := t.next(t.a, "P", 0)
	old := t.claim("P")
	old.Seen = backend.SeenAt(first.Token)
	l := t.grant(t.a, old)
	t.release(t.a, l, backend.Handover{})
	t.forgotten(t.b, t.get(t.b))
	late := func(when string) {
		for _, lost := range []backend.Lease{first, l} {
			_, err := t.a.Renew(t.ctx, lost)
			t.refused("a late renewal of a forgotten term"+when, err, backend.ErrNotHeld)
			t.refused("a late release of a forgotten term"+when, t.a.Release(t.ctx, lost, backend.Handover{}), backend.ErrNotHeld)
			lost.Token = 0
			t.refused("a late release by the attempt alone of a forgotten term"+when, t.a.Release(t.ctx, lost, backend.Handover{}), backend.ErrNotHeld)
		}
	}
	late("")
	_, err := t.a.Acquire(t.ctx, old)
	t.refused("a late copy of a forgotten term's claim", err, backend.ErrOutdated)
	t.noRecord(t.b, "late calls of a forgotten term")
	next := t.grant(t.b, t.claim("Q"))
	t.above(next.Token, l.Token, "forgetting")
	late(" while another holds it")
	if _, err := t.a.Acquire(t.ctx, old); !errors.Is(err, backend.ErrHeld) && !errors.Is(err, backend.ErrOutdated) {
		t.Errorf("a late copy of a forgotten term's claim while another holds it: got %v, want held", orSuccess(err))
	}
	t.stillHeld(t.b, next, "late calls of a forgotten term")
	t.release(t.b, next, backend.Handover{})
	t.forgotten(t.b, t.get(t.a))
	old.Seen = backend.Seen{}
	// Not through the recorder: the history would call the attempt's second term revived, which is what only a record could have told.
	again, err := t.a.LeaseStore.Acquire(t.ctx, old)
	if err == nil {
		t.above(again.Token, next.Token, "forgetting, for an attempt that had its term before")
		t.refused("renewal of the attempt's forgotten term", second(t.a.Renew(t.ctx, l)), backend.ErrNotHeld)
	}
}

func second[T any](_ T, err error) error { return err }

func forgetAtOnce(t *trial) {
	t.needForget()
	last := t.next(t.a, "P", 0)
	for range 20 {
		read := t.get(t.b)
		c := t.claim("P")
		var l backend.Lease
		var acquired, forgot error
		t.together(2, func(i int) {
			if i == 0 {
				l, acquired = t.a.Acquire(t.ctx, c)
			} else {
				forgot = t.b.Forget(t.ctx, read)
			}
		})
		if acquired != nil {
			t.Fatalf("acquire of a free election while it is forgotten: %v", acquired)
		}
		if forgot != nil && !errors.Is(forgot, backend.ErrHeld) && !errors.Is(forgot, backend.ErrOutdated) && !errors.Is(forgot, backend.ErrInvalid) {
			t.Errorf("forgetting a free election while it is acquired: %v", forgot)
		}
		t.above(l.Token, last.Token, "forgetting while it is acquired")
		t.stillHeld(t.b, l, "forgetting at the same time")
		t.renew(t.a, l)
		t.release(t.a, l, backend.Handover{})
		last = l
	}
}

// forgetNames forgets every third election; of the others, one half is held and one half is free.
func forgetNames(t *trial) {
	t.needForget()
	list := names("f" + t.suffix)
	records, held := make([]backend.Record, len(list)), make([]backend.Lease, len(list))
	for i, name := range list {
		held[i] = t.seat(t.client(i), name)
		if i%3 != 1 {
			t.release(t.client(i), held[i], backend.Handover{})
		}
		records[i] = t.read(t.b, name)
	}
	for i, r := range records {
		if i%3 == 0 {
			t.forgotten(t.client(i+1), r)
		}
	}
	for i, name := range list {
		t.election = name
		switch i % 3 {
		case 0:
			t.noRecord(t.a, "forgetting")
			t.above(t.next(t.b, "P", 0).Token, held[i].Token, "forgetting")
		case 1:
			t.stillHeld(t.a, held[i], "forgetting elections with other names")
		case 2:
			t.unchanged(records[i], "forgetting elections with other names")
		}
	}
}

// forgetLower forgets an election with lower tokens last: what is kept of the first must not go with it.
func forgetLower(t *trial) {
	t.needForget()
	first := t.election
	high := t.next(t.a, "P", t.next(t.a, "P", 0).Token+1000)
	t.forgotten(t.a, t.get(t.a))
	t.election = first + "/other"
	if t.raises() {
		t.raise(t.a, 1) // a counter of its own, below the first one's
	} else {
		t.next(t.a, "P", 0)
	}
	t.forgotten(t.b, t.get(t.b))
	t.election = first
	t.above(t.next(t.b, "Q", 0).Token, high.Token, "forgetting it, and another election later")
}
