package backend

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// late is a store whose Notify answers when it is let go, whatever its context says.
type late struct {
	stuck
	wake  func(bool)
	stops atomic.Int64
	fails error
}

func (s *late) Notify(_ context.Context, _ string, wake func(bool)) (func(), error) {
	s.calls.Add(1)
	<-s.hold
	if s.fails != nil {
		return nil, s.fails
	}
	s.wake = wake
	return func() { s.stops.Add(1) }, nil
}

// A watch that opens after its caller has given up would stay for ever: nobody has its stop.
func TestAWatchThatOpensTooLateIsStopped(t *testing.T) {
	for name, fails := range map[string]error{"it opens": nil, "it fails": ErrDenied} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := &late{stuck: stuck{hold: make(chan struct{})}, fails: fails}
				s := Wrap(inner)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				stop, err := Notify(ctx, s, "e", func(bool) {})
				if !errors.Is(err, context.DeadlineExceeded) || stop != nil || time.Since(began) != time.Second {
					t.Errorf("got %v after %v", err, time.Since(began))
				}
				if inner.stops.Load() != 0 {
					t.Error("stopped before it was open")
				}
				close(inner.hold)
				synctest.Wait()
				want := int64(1)
				if fails != nil {
					want = 0
				}
				if got := inner.stops.Load(); got != want {
					t.Errorf("stopped %d times, want %d", got, want)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A watch that opened in time is its caller's, also when the context ends right after.
func TestAWatchThatOpensInTimeIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &late{stuck: stuck{hold: make(chan struct{})}}
		close(inner.hold)
		ctx, cancel := context.WithCancel(t.Context())
		stop, err := Notify(ctx, Wrap(inner), "e", func(bool) {})
		cancel()
		synctest.Wait()
		if err != nil || inner.stops.Load() != 0 {
			t.Fatalf("%v, stopped %d times", err, inner.stops.Load())
		}
		stop()
		if inner.stops.Load() != 1 {
			t.Error("its caller's stop does not reach it")
		}
	})
}

// The fallback's watch opens on a slow store after its caller has given up.
func TestASlowStoreWithoutNotifyKeepsNoWatchThatNobodyWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		inner := &channels{slow: time.Minute}
		s := Wrap(inner)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Notify(ctx, s, "e", h.wake); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		<-time.After(2 * time.Minute)
		if n := inner.watches(); n != 0 {
			t.Errorf("%d watches are open", n)
		}
		inner.change()
		h.is(t, "after a watch that nobody wants", 0, 0)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAStoreWithoutAnOptionalInterfaceSaysSo(t *testing.T) {
	s := Wrap(&stuck{})
	for name, call := range map[string]func() error{
		"Roster": func() error {
			return s.(Roster).Enlist(t.Context(), Entry{Election: "e", Candidate: Candidate{ID: "a"}, TTL: time.Second})
		},
		"Lister":    func() error { _, err := s.(Lister).Elections(t.Context(), "", 1); return err },
		"Forgetter": func() error { return s.(Forgetter).Forget(t.Context(), Record{Election: "e"}) },
	} {
		var op *OpError
		if err := call(); !errors.Is(err, ErrInvalid) || !errors.As(err, &op) || op.Store != "stuck" || op.Err.Error() != "invalid: this store has no "+name {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
