package elector

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
)

// The wall clock is set forward by less than the margin, just before a late renewal: who asks the context is told that its time is over, so the term must be over
// for everybody. Run must not take the work's return for a resignation.
func TestATermWhoseContextEndedByTheClockIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hands handClock
		var ev events
		f := newFaulty(memory.New())
		cfg := config(f, "a")
		cfg.SafetyMargin, cfg.RenewInterval, cfg.AttemptTimeout, cfg.Events = time.Second, ttl/10, ttl/10, ev.add
		e, err := newElector(cfg, hands.source(true))
		if err != nil {
			t.Fatal(err)
		}
		a := startAs(t, e, func(ctx context.Context, _ *Term) error { <-ctx.Done(); return ctx.Err() })
		first := <-a.terms
		pass(ttl)
		f.set(func(context.Context, string) error { return errInjected }, nil)
		for first.CancelIn() > 800*time.Millisecond {
			pass(time.Millisecond)
		}
		hands.wall.Add(int64(900 * time.Millisecond))
		f.set(nil, nil)
		if first.Context().Err() == nil {
			t.Fatal("the context goes on: the test tests nothing")
		}
		pass(time.Second)
		select {
		case second := <-a.terms:
			if second.Token().Value <= first.Token().Value || first.Valid() {
				t.Errorf("first %v valid %v, second %v", first.Token(), first.Valid(), second.Token())
			}
		case err := <-a.result:
			t.Fatalf("Run returned %v", err)
		}
		if !errors.Is(context.Cause(first.Context()), ErrDeadline) || len(ev.kinds(Lost)) != 1 {
			t.Errorf("cause %v, %d times lost", context.Cause(first.Context()), len(ev.kinds(Lost)))
		}
		_ = a.end()
	})
}
