package conformance

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

var tokenCases = []Case{
	{Name: "tokens grow over release", Rule: s2, run: func(t *trial) {
		var last int64
		for i := range 10 {
			l := t.grant(t.client(i), t.claim(rival(i)))
			last = t.above(l.Token, last, "release")
			t.release(t.client(i), l, backend.Handover{})
		}
	}},
	{Name: "tokens grow over expiry", Rule: s2, Waits: true, run: func(t *trial) {
		l := t.grant(t.a, t.brief("P"))
		t.afterExpiry(t.b, l)
		t.above(t.grant(t.b, t.claim("Q")).Token, l.Token, "expiry")
	}},
	{Name: "tokens grow when all clients are closed and opened anew", Rule: s2, run: func(t *trial) {
		l := t.grant(t.a, t.claim("P"))
		t.release(t.a, l, backend.Handover{})
		for _, c := range []*recorder{t.a, t.b} {
			if err := c.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		t.above(t.grant(t.open(), t.claim("Q")).Token, l.Token, "all clients were closed")
	}},
	{Name: "a token is above the claim's floor and later ones are above it", Rule: s2, Covers: []string{"DX11", "EC34"}, run: tokenAboveFloor},
	{Name: "an absurd floor is refused and harms nobody", Rule: s2, Covers: []string{"DX11"}, run: absurdFloor},
	{Name: "tokens are exact up to the greatest and never wrap", Rule: s2, Covers: []string{"R16"}, run: greatestToken},
	{Name: "a raised counter is below the next token", Rule: s2, Covers: []string{"DX15"}, run: raisedCounter},
	{Name: "raising the counter of a held election leaves the lease alone", Rule: s2, Covers: []string{"DX15"}, run: raiseWhileHeld},
	{Name: "raising to an absurd token is refused and harms nobody", Rule: s2, Covers: []string{"DX11"}, run: absurdRaise},
}

// above checks that a token has grown and returns it.
func (t *trial) above(token, last int64, over string) int64 {
	if token <= last {
		t.Errorf("the token is %d after %d, want it to grow over %s", token, last, over)
	}
	return token
}

// next is a full term of a new attempt.
func (t *trial) next(s backend.LeaseStore, name string, floor int64) backend.Lease {
	c := t.claim(name)
	c.Floor = floor
	l := t.grant(s, c)
	t.release(s, l, backend.Handover{})
	return l
}

func tokenAboveFloor(t *trial) {
	first := t.next(t.a, "P", 0)
	floor := first.Token + 1000
	second := t.next(t.b, "Q", floor)
	t.above(second.Token, floor, "the floor")
	third := t.next(t.a, "P", first.Token) // a floor below the counter changes nothing
	t.above(third.Token, second.Token, "a lower floor")
	// From small tokens to those made of microseconds, as after a move between stores.
	floor = max(third.Token, time.Now().UnixMicro()) + 1
	fourth := t.next(t.b, "Q", floor)
	t.above(fourth.Token, floor, "a floor of microseconds")
	if r := t.get(t.a); r.Token != fourth.Token || r.Counter < fourth.Token {
		t.Errorf("the record shows token %d and counter %d, want %d", r.Token, r.Counter, fourth.Token)
	}
}

func absurdFloor(t *trial) {
	before := t.next(t.a, "P", 0)
	c := t.claim("Q")
	c.Floor = backend.MaxToken - 2 // 2^53 - 3
	_, err := t.a.Acquire(t.ctx, c)
	t.refused("acquire with the floor 2^53-3", err, backend.ErrInvalid)
	if r := t.get(t.b); r.Held() || r.Counter != before.Token {
		t.Errorf("after an absurd floor the election is %v, want it free with counter %d", r, before.Token)
	}
	t.above(t.next(t.b, "P", 0).Token, before.Token, "a refused floor")
}

// greatestToken climbs to the greatest token by the greatest floors that a store may accept.
func greatestToken(t *trial) {
	l := t.next(t.a, "P", 0)
	for l.Token < backend.MaxToken-2 {
		floor := min(l.Token+backend.FloorHeadroom, backend.MaxToken-3)
		got := t.next(t.a, "P", floor)
		if got.Token <= floor {
			t.Fatalf("the token is %d, want it above the floor %d", got.Token, floor)
		}
		if r := t.get(t.b); r.Token != got.Token || r.Counter != got.Token {
			t.Fatalf("granted %d, the record shows token %d and counter %d", got.Token, r.Token, r.Counter)
		}
		l = got
	}
	for range 4 {
		c := t.claim("P")
		got, err := t.a.Acquire(t.ctx, c)
		if err != nil {
			return // used up
		}
		t.checkLease(got, c)
		t.above(got.Token, l.Token, "a grant near the greatest token")
		t.release(t.a, got, backend.Handover{})
		l = got
	}
	t.Errorf("still granted after token %d, want an error when the tokens are used up", l.Token)
}

func (t *trial) needRaise() {
	if !t.raises() {
		t.stop(NotClaimed, "the store has no Raise")
	}
}

func (t *trial) raise(s *recorder, token int64) {
	if err := s.Raise(t.ctx, t.election, token); err != nil {
		t.Fatalf("raise to %d: %v", token, err)
	}
}

func raisedCounter(t *trial) {
	t.needRaise()
	t.raise(t.a, 41) // before there was any holder
	l := t.next(t.b, "P", 0)
	t.above(l.Token, 41, "raise")
	t.raise(t.a, l.Token+100)
	t.raise(t.b, l.Token+100) // again
	t.raise(t.b, l.Token)     // lower: no effect
	r := t.get(t.a)
	if r.Counter < l.Token+100 || r.Token != l.Token {
		t.Errorf("the record shows counter %d and token %d, want the raised counter %d and the last token %d", r.Counter, r.Token, l.Token+100, l.Token)
	}
	t.above(t.next(t.b, "Q", 0).Token, l.Token+100, "raise")
}

func raiseWhileHeld(t *trial) {
	t.needRaise()
	c := t.claim("P")
	l := t.grant(t.a, c)
	t.raise(t.b, l.Token+10)
	t.stillHeld(t.b, l, "raise")
	if r := t.get(t.a); r.Counter < l.Token+10 {
		t.Errorf("the counter is %d, want at least %d", r.Counter, l.Token+10)
	}
	t.renew(t.a, l)
	if again := t.grant(t.a, c); again.Token != l.Token {
		t.Errorf("a repeat of the claim gives token %d after raise, want the lease's own %d", again.Token, l.Token)
	}
	t.release(t.a, l, backend.Handover{})
	t.above(t.next(t.b, "Q", 0).Token, l.Token+10, "raise and release")
}

func absurdRaise(t *trial) {
	t.needRaise()
	l := t.next(t.a, "P", 0)
	t.refused("raise to 2^53-3", t.a.Raise(t.ctx, t.election, backend.MaxToken-2), backend.ErrInvalid)
	if r := t.get(t.b); r.Counter != l.Token {
		t.Errorf("the counter is %d, want %d as before", r.Counter, l.Token)
	}
}
