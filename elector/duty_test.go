package elector

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/fence"
)

// Work of others runs under the term at the moment, ends with it, and holds the lease until it has returned.
func TestDutyWorksUnderTheTermAtTheMoment(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var duty Duty
		if err := duty.Do(t.Context(), done); !errors.Is(err, ErrNotLeading) || duty.Term() != nil {
			t.Errorf("before the first term: %v", err)
		}
		a := startWith(t, config(server.Client(), "a"), duty.Lead)
		term := <-a.terms
		pass(time.Millisecond)
		result := make(chan error, 1)
		go func() {
			result <- duty.Do(t.Context(), func(ctx context.Context, got *Term) error {
				if token, ok := fence.FromContext(ctx); !ok || token != term.Token() || got != term || duty.Term() != term {
					t.Errorf("works under %v, %v", token, got)
				}
				<-ctx.Done()
				if err := duty.Do(t.Context(), done); !errors.Is(err, ErrNotLeading) {
					t.Errorf("new work while stepping down: %v", err)
				}
				pass(10 * time.Second)
				if !term.Valid() {
					t.Error("the lease was given up before the work returned")
				}
				return ctx.Err()
			})
		}()
		pass(time.Second)
		if err := a.end(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := <-result; !errors.Is(err, ErrResigned) {
			t.Error(err)
		}
		if err := duty.Do(t.Context(), nil); !errors.Is(err, backend.ErrInvalid) {
			t.Error(err)
		}
	})
}

// PE57: the caller's context ends its own work, not that of others, and a lost lease ends all.
func TestDutyEndsWorkWithItsCallerAndWithTheTerm(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var duty Duty
		a := startWith(t, config(server.Client(), "a"), duty.Lead)
		<-a.terms
		pass(time.Millisecond)
		why := errors.New("the client is gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- duty.Do(ctx, untilTold) }()
		go func() {
			second <- duty.Do(t.Context(), func(ctx context.Context, _ *Term) error { <-ctx.Done(); return nil })
		}()
		pass(time.Second)
		cancel(why)
		if err := <-first; !errors.Is(err, why) {
			t.Error(err)
		}
		if len(second) != 0 {
			t.Error("the other ended too")
		}
		server.Remove("e")
		if err := <-second; !errors.Is(err, ErrLost) {
			t.Errorf("work that returned nil after its lease was lost: %v", err)
		}
		<-a.terms
		pass(time.Millisecond)
		must(t, duty.Do(t.Context(), done))
		if err := duty.Lead(t.Context(), duty.Term()); !errors.Is(err, ErrBusy) {
			t.Errorf("a second elector: %v", err)
		}
		_ = a.end()
	})
}
