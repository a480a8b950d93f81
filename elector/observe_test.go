package elector

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
)

// E8: observers see leaders in the order of tokens, "nobody" included, and a slow one delays nobody.
func TestObserveTellsWhoLeadsInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		watcher := newTest(t, config(f, "watcher"))
		ctx, cancel := context.WithCancel(t.Context())
		var seen []Leader
		var failures int
		done := make(chan struct{})
		go func() {
			defer close(done)
			for l, err := range watcher.Observe(ctx) {
				if err != nil {
					failures++
					continue
				}
				seen = append(seen, l)
				pass(time.Second) // a slow consumer
			}
		}()
		pass(2 * time.Second)
		for i, id := range []string{"a", "b", "a", "c"} {
			if i == 2 { // the store is away for the observer
				f.set(func(context.Context, string) error { return errInjected }, nil)
			}
			r := start(t, config(server.Client(), id))
			<-r.terms
			pass(10 * time.Second)
			f.set(nil, nil)
			pass(10 * time.Second)
			_ = r.end()
			pass(3 * time.Second)
		}
		dead := newFaulty(server.Client())
		r := start(t, config(dead, "dead"))
		<-r.terms
		dead.set(func(context.Context, string) error { return errInjected }, nil)
		pass(4 * ttl)
		cancel()
		<-done
		var got []string
		for i, l := range seen {
			got = append(got, l.Candidate.ID)
			if i > 0 && l.Token < seen[i-1].Token {
				t.Errorf("token %d after %d", l.Token, seen[i-1].Token)
			}
		}
		want := []string{"", "a", "", "b", "", "a", "", "c", "", "dead", ""}
		if len(got) != len(want) {
			t.Fatalf("saw %q, want %q", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("saw %q, want %q", got, want)
			}
		}
		if failures == 0 {
			t.Error("the outage was not told")
		}
		dead.set(nil, nil)
		_ = r.end()
	})
}

func TestObserveEndsWithItsContextAndItsLoop(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		e := newTest(t, config(server.Client(), "a"))
		for l, err := range e.Observe(t.Context()) {
			if err != nil || !l.Nobody() {
				t.Errorf("%+v, %v", l, err)
			}
			break
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		n := 0
		for range e.Observe(ctx) {
			n++
		}
		if n != 1 {
			t.Errorf("%d yields in an hour without a leader", n)
		}
	})
}

// A slow or silent subscriber does not delay the elector (EC71, PE6).
func TestASlowSubscriberDelaysNobody(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		hold := make(chan struct{})
		cfg := config(server.Client(), "a")
		cfg.Events = func(Event) { <-hold }
		e := newTest(t, cfg)
		for range 3 {
			term, err := e.Campaign(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pass(3 * ttl)
			synctest.Wait()
			if !e.Leading() {
				t.Error("the subscriber held up a renewal")
			}
			if err := term.Resign(t.Context()); err != nil {
				t.Error(err)
			}
		}
		close(hold)
		if err := e.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}
