package core

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// A follower that is alone claims at once when it is woken. One that loses race after race waits ever longer, up to the whole spread, and less again when it has won.
func TestAFollowerLearnsHowManyRivalsItHas(t *testing.T) {
	const spread = 5 * time.Millisecond
	m := New(Config{Spread: spread})
	m.campaign.called = true
	longest := func() (most time.Duration) {
		for range 2000 {
			most = max(most, m.spread())
		}
		return most
	}
	if d := longest(); d != 0 {
		t.Errorf("a follower without rivals waits for %v", d)
	}
	last := time.Duration(0)
	for i := range 10 {
		m.raced(false)
		d := longest()
		if d < last*9/10 || d >= spread {
			t.Errorf("after %d lost races it waits for up to %v, before that for %v", i+1, d, last)
		}
		last = d
	}
	if last < spread*9/10 {
		t.Errorf("after many lost races it waits for up to %v of %v", last, spread)
	}
	for range 3 {
		m.raced(true)
	}
	if d := longest(); d != 0 {
		t.Errorf("after races that it won it waits for up to %v", d)
	}
	m.campaign.called = false
	m.raced(false)
	if m.rivals != 0 {
		t.Error("a claim that nobody called for counts as a lost race")
	}
}

// A claim that finds another's new term has lost a race; one that finds the old one has not.
func TestOnlyANewTermIsALostRace(t *testing.T) {
	h := newHand(t, 0)
	h.step(Event{Kind: Want, Mode: Run, Caller: 1})
	claim := h.ask()
	for _, want := range []uint8{1, 1} {
		h.campaign.called = true
		h.answer(claim, Event{Kind: Acquired, Err: &backend.HeldError{Record: backend.Record{
			Holder: backend.Candidate{ID: "other"}, Token: 7, Counter: 7, TTL: time.Second, Remaining: time.Second,
		}}})
		if h.rivals != want {
			t.Errorf("rivals %d, want %d", h.rivals, want)
		}
		claim = h.must(DoAcquire)
	}
}
