package sqlite_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// A file of the first layout, in use: its leases live on, and what came with later layouts works.
func TestAFileOfTheFirstLayoutIsUpgraded(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	held := acquire(t, s, claim("held", "a", long))
	free := acquire(t, s, claim("free", "a", long))
	if err := s.Release(t.Context(), free, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, path, "DROP TABLE tenure_roster")
	alter(t, path, "DROP TABLE tenure_floor")
	alter(t, path, "UPDATE tenure_schema SET version = 1")

	s = open(t, path)
	if _, err := s.Renew(t.Context(), held); err != nil {
		t.Errorf("renewal of a lease from before the upgrade: %v", err)
	}
	enlist(t, s, "held", "a", long)
	if got := listed(t, open(t, path), "held"); len(got) != 1 {
		t.Errorf("listed: %q", got)
	}
	r, err := s.Get(t.Context(), "free")
	if err != nil || r.Counter != free.Token {
		t.Fatalf("record %+v, %v", r, err)
	}
	if err := s.Forget(t.Context(), r); err != nil {
		t.Errorf("forget: %v", err)
	}
	if l := acquire(t, s, claim("free", "b", long)); l.Token <= free.Token {
		t.Errorf("token %d after %d", l.Token, free.Token)
	}
}

// The counter of a forgotten election lies ahead of the clock, as after a move from another store, or after the clock was set back: what remembers it must be in the file.
func TestTokensGrowOverForgettingWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	ahead := time.Now().Add(24 * time.Hour).UnixMicro()
	for _, election := range []string{"high", "low"} { // the lower counter is forgotten last
		if err := s.Raise(t.Context(), election, ahead); err != nil {
			t.Fatal(err)
		}
		r, err := s.Get(t.Context(), election)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Forget(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ahead -= int64(time.Hour / time.Microsecond)
	}
	ahead = time.Now().Add(23 * time.Hour).UnixMicro()
	for _, election := range []string{"high", "low", "new"} {
		if l := acquire(t, open(t, path), claim(election, "a", long)); l.Token <= ahead {
			t.Errorf("the token of %q is %d, want more than %d", election, l.Token, ahead)
		}
	}
}

// The holder of a row of another boot may be alive, in another time namespace.
func TestAHeldRowOfAnotherBootIsNotForgottenBeforeItsTTLWasObserved(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	acquire(t, s, claim("e", "a", short))
	alter(t, path, "UPDATE tenure_lease SET boot = 'another', expires_ns = 1")
	s = open(t, path)
	began := time.Now()
	r, err := s.Get(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is forgotten", func() bool {
		err := s.Forget(t.Context(), r)
		if err != nil && !errors.Is(err, backend.ErrHeld) {
			t.Fatalf("forget: %v", err)
		}
		return err == nil
	})
	if took := time.Since(began); took < short {
		t.Errorf("forgotten after %v, before a TTL of %v was observed", took, short)
	}
}

// An absurd counter is not made the floor of all elections.
func TestAnAbsurdCounterIsNotForgotten(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	acquired := acquire(t, s, claim("far", "a", long))
	if err := s.Release(t.Context(), acquired, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
	alter(t, path, "UPDATE tenure_lease SET counter = ?", int64(backend.MaxToken)-1)
	r, err := s.Get(t.Context(), "far")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "forget", s.Forget(t.Context(), r), backend.Invalid)
	if l := acquire(t, s, claim("other", "a", long)); l.Token > time.Now().UnixMicro() {
		t.Errorf("another election has token %d", l.Token)
	}
}

// Forgetting wakes those who watch, here at once and in other processes too: for them the election is another by now.
func TestForgettingWakes(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	a, b := open(t, path), open(t, path)
	l := acquire(t, a, claim("e", "a", long))
	if err := a.Release(t.Context(), l, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
	woken := make(chan struct{}, 1)
	stop, err := b.Notify(t.Context(), "e", func(bool) {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	own, err := a.Watch(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Get(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Forget(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	select {
	case <-own:
	default:
		t.Error("no wake-up of the store's own watch when the election was forgotten")
	}
	receive(t, woken)
}
