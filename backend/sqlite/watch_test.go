package sqlite_test

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

// receive waits for a wake-up.
func receive(t *testing.T, watch <-chan struct{}) {
	t.Helper()
	select {
	case <-watch:
	case <-time.After(20 * time.Second):
		t.Fatal("no wake-up")
	}
}

// drain waits for a watch's end.
func drain(t *testing.T, watch <-chan struct{}) {
	t.Helper()
	end := time.After(20 * time.Second)
	for {
		select {
		case _, open := <-watch:
			if !open {
				return
			}
		case <-end:
			t.Fatal("the watch doesn't end")
		}
	}
}

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
	receive(t, watch)
	t.Logf("woken %v after the release", time.Since(began))
	acquire(t, s, claim("e", "b", long))
	receive(t, watch) // its own change wakes too
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
	var watches []<-chan struct{}
	for _, s := range []*sqlite.Store{a, b} {
		watch, err := s.Watch(t.Context(), "e")
		if err != nil {
			t.Fatal(err)
		}
		watches = append(watches, watch)
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
		receive(t, canary) // so b has looked
		if err := a.Release(t.Context(), c, backend.Handover{}); err != nil {
			t.Fatal(err)
		}
		receive(t, canary)
	}
	for _, watch := range watches {
		select {
		case <-watch:
			t.Error("woken, though only renewals and another election's changes have happened")
		default:
		}
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
			drain(t, watch)
		}
		eventually(t, "polling has ended", func() bool { return !sqlite.Polling(s) })
	}
}
