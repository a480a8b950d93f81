package elector

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// Work is told to end after AtMost; one that obeys gives its election back at once.
func TestAtMostEndsTheWork(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a, b := newGate(t, gateConfig(server.Client(), "a", 0, 30*time.Second)), newGate(t, gateConfig(server.Client(), "b", 0, 0))
		began := time.Now()
		err := a.Do(t.Context(), func(ctx context.Context, term *Term) error {
			<-ctx.Done()
			if !term.Valid() {
				t.Error("the lease was given up before the work returned")
			}
			return ctx.Err()
		})
		if !errors.Is(err, ErrAtMost) || time.Since(began) != 30*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		must(t, b.Do(t.Context(), done))
		must(t, a.Close())
		must(t, b.Close())
	})
}

// Work that goes on after AtMost loses its election in the end: not before the drain time-out and one TTL are over, and not without being told of.
func TestWorkThatIgnoresAtMost(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var overruns atomic.Int32
		cfg := gateConfig(server.Client(), "a", 0, 10*time.Second)
		cfg.Elector.DrainTimeout = 7 * time.Second
		cfg.Elector.OnOverrun = func(o Overrun) {
			if !errors.Is(o.Cause, ErrAtMost) || o.Token.Value != 1 {
				t.Errorf("%+v", o)
			}
			overruns.Add(1)
		}
		a, b := newGate(t, cfg), newGate(t, gateConfig(server.Client(), "b", 0, 0))
		result, hold := make(chan error, 1), make(chan struct{})
		go func() {
			result <- a.Do(t.Context(), func(context.Context, *Term) error { <-hold; return nil })
		}()
		pass(22*time.Second - time.Millisecond) // AtMost, DrainTimeout and TTL
		if err := b.Do(t.Context(), done); !errors.Is(err, backend.ErrHeld) {
			t.Errorf("another ran beside it: %v", err)
		}
		if overruns.Load() != 1 {
			t.Errorf("%d overruns told", overruns.Load())
		}
		pass(2 * time.Millisecond)
		must(t, b.Do(t.Context(), done))
		if err := a.Do(t.Context(), done); !errors.Is(err, ErrBusy) {
			t.Errorf("a second run of the same server: %v", err)
		}
		close(hold)
		if err := <-result; !errors.Is(err, ErrAtMost) {
			t.Errorf("Do returned %v", err)
		}
		pass(time.Millisecond)
		must(t, a.Do(t.Context(), done))
		must(t, a.Close())
		must(t, b.Close())
	})
}

// B34, B11, PE57: a lost lease ends the work with its cause, in time, and Do says so even if the work doesn't.
func TestALostLeaseEndsTheWork(t *testing.T) {
	for _, tt := range []struct {
		what  string
		cause error
		lose  func(*faulty, *memory.Server)
	}{
		{"the record is removed", ErrLost, func(_ *faulty, s *memory.Server) { s.Remove("e") }},
		{"the store is away", ErrDeadline, func(f *faulty, _ *memory.Server) {
			f.set(func(context.Context, string) error { return errInjected }, nil)
		}},
	} {
		bubble(t, func(t *testing.T, server *memory.Server) {
			f := newFaulty(server.Client())
			cfg := gateConfig(f, "a", 0, 0)
			cfg.Elector.OnOverrun = func(Overrun) { t.Error("an overrun, though the work obeyed") }
			g := newGate(t, cfg)
			began := time.Now()
			err := g.Do(t.Context(), func(ctx context.Context, _ *Term) error {
				tt.lose(f, server)
				<-ctx.Done()
				if took := time.Since(began); took > g.Config().Elector.Timing().CancelAfter {
					t.Errorf("%s: told after %v", tt.what, took)
				}
				return nil
			})
			if !errors.Is(err, tt.cause) {
				t.Errorf("%s: %v", tt.what, err)
			}
			f.set(nil, nil)
			pass(ttl)
			must(t, g.Do(t.Context(), done))
			must(t, g.Close())
		})
	}
}

// Work that outlives a lost lease is told of, and no second one begins here.
func TestWorkThatOutlivesALostLease(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var overruns atomic.Int32
		f := newFaulty(server.Client())
		cfg := gateConfig(f, "a", 0, 0)
		cfg.Elector.OnOverrun = func(Overrun) { overruns.Add(1) }
		g := newGate(t, cfg)
		err := g.Do(t.Context(), func(context.Context, *Term) error {
			f.set(func(context.Context, string) error { return errInjected }, nil)
			pass(ttl)
			f.set(nil, nil)
			pass(ttl)
			if err := g.Do(t.Context(), done); !errors.Is(err, ErrBusy) {
				t.Errorf("a second run: %v", err)
			}
			return errors.ErrUnsupported
		})
		if !errors.Is(err, errors.ErrUnsupported) || overruns.Load() != 1 {
			t.Errorf("%v, %d overruns", err, overruns.Load())
		}
		must(t, g.Close())
	})
}

// B31: the tick's context ends the work; the election is given back all the same.
func TestTheTicksContextEndsTheWork(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a, b := newGate(t, gateConfig(server.Client(), "a", 0, 0)), newGate(t, gateConfig(server.Client(), "b", 0, 0))
		why := errors.New("shutdown")
		ctx, cancel := context.WithCancelCause(t.Context())
		err := a.Do(ctx, func(ctx context.Context, _ *Term) error {
			cancel(why)
			<-ctx.Done()
			pass(10 * time.Second)
			if err := b.Do(t.Context(), done); !errors.Is(err, backend.ErrHeld) {
				t.Errorf("another ran before the work had returned: %v", err)
			}
			return ctx.Err()
		})
		if !errors.Is(err, why) {
			t.Error(err)
		}
		must(t, b.Do(t.Context(), done))
		if err := a.Do(ctx, done); !errors.Is(err, why) {
			t.Errorf("after the end of its context: %v", err)
		}
		must(t, a.Close())
		must(t, b.Close())
	})
}

// A panic gives the election back.
func TestAPanicBehindAGate(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a, b := newGate(t, gateConfig(server.Client(), "a", 0, 0)), newGate(t, gateConfig(server.Client(), "b", 0, 0))
		func() {
			defer func() {
				if r := recover(); r != "oh" {
					t.Errorf("recovered %v", r)
				}
			}()
			_ = a.Do(t.Context(), func(context.Context, *Term) error { panic("oh") })
		}()
		must(t, b.Do(t.Context(), done))
		must(t, a.Do(t.Context(), done))
		must(t, a.Close())
		must(t, b.Close())
	})
}

// Close tells work to end, holds the election until it has, and awaits it.
func TestClosingAGate(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a, b := newGate(t, gateConfig(server.Client(), "a", 0, 0)), newGate(t, gateConfig(server.Client(), "b", 0, 0))
		result := make(chan error, 1)
		var returned atomic.Bool
		go func() {
			result <- a.Do(t.Context(), func(ctx context.Context, _ *Term) error {
				<-ctx.Done()
				pass(10 * time.Second)
				if err := b.Do(t.Context(), done); !errors.Is(err, backend.ErrHeld) {
					t.Errorf("another ran before the work had returned: %v", err)
				}
				returned.Store(true)
				return ctx.Err()
			})
		}()
		pass(time.Second)
		must(t, a.Close())
		if !returned.Load() {
			t.Error("Close returned before the work")
		}
		if err := <-result; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		must(t, b.Do(t.Context(), done))
		must(t, b.Close())
	})
}

// A store that can't be reached is not "held by another": the caller can tell.
func TestAGateWhoseStoreIsAway(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		g := newGate(t, gateConfig(f, "a", 0, 0))
		f.set(func(context.Context, string) error { return errInjected }, nil)
		if err := g.Do(t.Context(), done); !errors.Is(err, errInjected) || errors.Is(err, backend.ErrHeld) {
			t.Error(err)
		}
		f.set(nil, nil)
		must(t, g.Do(t.Context(), done))
		must(t, g.Close())
	})
}

// Work that ignores the end of its tick, or of its gate, is renewed for no longer than the drain time-out; Close waits for it even then.
func TestWorkThatIgnoresTheEnd(t *testing.T) {
	for what, end := range map[string]func(g *Gate, cancel func()){
		"the tick's context": func(_ *Gate, cancel func()) { cancel() },
		"the gate":           func(g *Gate, _ func()) { _ = g.Close() },
	} {
		bubble(t, func(t *testing.T, server *memory.Server) {
			var overruns atomic.Int32
			cfg := gateConfig(server.Client(), "a", 0, 0)
			cfg.Elector.DrainTimeout = 7 * time.Second
			cfg.Elector.OnOverrun = func(Overrun) { overruns.Add(1) }
			a, b := newGate(t, cfg), newGate(t, gateConfig(server.Client(), "b", 0, 0))
			ctx, cancel := context.WithCancel(t.Context())
			hold := make(chan struct{})
			result := make(chan error, 1)
			go func() { result <- a.Do(ctx, func(context.Context, *Term) error { <-hold; return nil }) }()
			pass(time.Second)
			go end(a, cancel)
			pass(7 * time.Second)
			if err := b.Do(t.Context(), done); !errors.Is(err, backend.ErrHeld) {
				t.Errorf("%s: another ran beside it within its lease: %v", what, err)
			}
			pass(6 * time.Second)
			must(t, b.Do(t.Context(), done))
			ended := make(chan struct{})
			go func() { _ = a.Close(); close(ended) }()
			pass(time.Second)
			select {
			case <-ended:
				t.Errorf("%s: Close returned before the work", what)
			default:
			}
			close(hold)
			<-ended
			if err := <-result; err == nil || overruns.Load() != 1 {
				t.Errorf("%s: %v, %d overruns", what, err, overruns.Load())
			}
			cancel()
			must(t, b.Close())
		})
	}
}
