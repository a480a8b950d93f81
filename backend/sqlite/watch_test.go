package sqlite_test

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

func TestReleaseByAnotherProcessWakes(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	p := start(t, "candidate", path, "e", long.String())
	p.expect("token")
	watch, err := s.Watch(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	p.tell("release")
	p.expect("release ok")
	began := time.Now()
	<-watch
	t.Logf("woken %v after the release", time.Since(began))
	acquire(t, s, claim("e", "b", long))
	<-watch // its own change wakes too
}

func TestOwnChangeWakesAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	watch, err := s.Watch(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	l := acquire(t, s, claim("e", "a", long))
	select {
	case <-watch:
	default:
		t.Error("no wake-up when the grant had returned")
	}
	if err := s.Release(t.Context(), l, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-watch:
	default:
		t.Error("no wake-up when the release had returned")
	}
}

func TestRenewalsAndOtherElectionsDontWake(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	a, b := open(t, path), open(t, path)
	l := acquire(t, a, claim("e", "a", long))
	watch, err := b.Watch(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	canary, err := b.Watch(t.Context(), "canary")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if l, err = a.Renew(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		c := acquire(t, a, claim("canary", "a", long))
		<-canary // so b has looked
		if err := a.Release(t.Context(), c, backend.Handover{}); err != nil {
			t.Fatal(err)
		}
		<-canary
	}
	select {
	case <-watch:
		t.Error("woken, though only renewals and another election's changes have happened")
	default:
	}
}

func TestPollsOnlyWhileSomebodyWatches(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	for range 2 {
		if sqlite.Polling(s) {
			t.Fatal("polling, and nobody watches")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var watches []<-chan struct{}
		for _, election := range []string{"e", "e", "f"} {
			watch, err := s.Watch(ctx, election)
			if err != nil {
				t.Fatal(err)
			}
			watches = append(watches, watch)
		}
		if !sqlite.Polling(s) {
			t.Fatal("not polling")
		}
		cancel()
		for _, watch := range watches {
			for range watch { // closed
			}
		}
		eventually(t, "polling has ended", func() bool { return !sqlite.Polling(s) })
	}
}
