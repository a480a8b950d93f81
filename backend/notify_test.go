package backend

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// channels is a store with watches by channel alone, which end with their contexts or its Close.
type channels struct {
	LeaseStore
	slow time.Duration // how long Watch takes, whatever its context says
	deaf bool          // its channels are never closed

	mu      sync.Mutex
	open    map[chan struct{}]func() bool
	refused error
}

func (s *channels) Limits() Limits { return Limits{Store: "channels"} }

func (s *channels) Watch(ctx context.Context, _ string) (<-chan struct{}, error) {
	if s.refused != nil {
		return nil, s.refused
	}
	if s.slow > 0 {
		<-time.After(s.slow)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := make(chan struct{}, 1)
	if s.open == nil {
		s.open = make(map[chan struct{}]func() bool)
	}
	s.open[ch] = context.AfterFunc(ctx, func() { s.end(ch) })
	return ch, nil
}

func (s *channels) end(ch chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.open[ch]; open {
		delete(s.open, ch)
		if !s.deaf {
			close(ch)
		}
	}
}

func (s *channels) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.open {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (s *channels) watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func (s *channels) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch, untie := range s.open {
		untie()
		close(ch)
	}
	clear(s.open)
	return nil
}

// heard counts what a function was told.
type heard struct{ wakes, ends atomic.Int64 }

func (h *heard) wake(open bool) {
	if open {
		h.wakes.Add(1)
	} else {
		h.ends.Add(1)
	}
}

func (h *heard) is(t *testing.T, when string, wakes, ends int64) {
	t.Helper()
	synctest.Wait()
	if h.wakes.Load() != wakes || h.ends.Load() != ends {
		t.Errorf("%s: %d wake-ups and %d ends, want %d and %d", when, h.wakes.Load(), h.ends.Load(), wakes, ends)
	}
}

// A store without Notify is watched by its channel: bare, or wrapped.
func TestNotifyOnAStoreWithoutIt(t *testing.T) {
	for name, wrapped := range map[string]bool{"bare": false, "wrapped": true} {
		for kind, deaf := range map[string]bool{"": false, ", channels never closed": true} {
			t.Run(name+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					inner := &channels{deaf: deaf}
					var s LeaseStore = inner
					if wrapped {
						s = Wrap(inner)
					}
					playNotify(t, s, inner)
				})
			})
		}
	}
}

func playNotify(t *testing.T, s LeaseStore, inner *channels) {
	t.Helper()
	var stays, goes heard
	ctx, cancel := context.WithCancel(t.Context())
	stopStays, err := Notify(ctx, s, "e", stays.wake)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := Notify(ctx, s, "e", goes.wake)
	if err != nil {
		t.Fatal(err)
	}
	cancel() // it bounded the calls alone
	stays.is(t, "after the end of the call's context", 0, 0)
	inner.change()
	stays.is(t, "after a change", 1, 0)
	goes.is(t, "after a change", 1, 0)
	var idle heard
	stopIdle, err := Notify(t.Context(), s, "e", idle.wake)
	if err != nil {
		t.Fatal(err)
	}
	stopIdle()
	idle.is(t, "after stop without a change", 0, 0)
	inner.change() // perhaps the wake-up is on its way when the watch is stopped
	stop()
	told := goes.wakes.Load()
	stop()
	synctest.Wait()
	if n := inner.watches(); n != 1 {
		t.Errorf("after stop the store has %d watches, want 1", n)
	}
	inner.change()
	goes.is(t, "after stop", told, 0)
	stays.is(t, "after two more changes", 3, 0)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	stays.is(t, "after Close", 3, 1)
	goes.is(t, "after stop and Close", told, 0)
	stopStays()
	stopStays()
	stays.is(t, "after Close and stop", 3, 1)
}

// A call that is under way when the watch is stopped is waited for, and none follows it: neither by a change nor by the end of the channel.
func TestStopWaitsForTheCallUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &channels{}
		for range 20 { // chance decides what is received when both are there
			var calls atomic.Int64
			entered, leave := make(chan struct{}), make(chan struct{})
			stop, err := Notify(t.Context(), inner, "e", func(bool) {
				if calls.Add(1) == 1 {
					close(entered)
				}
				<-leave
			})
			if err != nil {
				t.Fatal(err)
			}
			inner.change()
			<-entered
			inner.change()
			var stopped atomic.Bool
			done := make(chan struct{})
			go func() { defer close(done); stop(); stopped.Store(true) }()
			synctest.Wait()
			if stopped.Load() {
				t.Error("stop has returned while the function was called")
			}
			close(leave)
			<-done
			synctest.Wait()
			if n := calls.Load(); n != 1 {
				t.Errorf("%d calls, want the one before stop", n)
			}
		}
	})
}

func TestNotifyTellsWhyItCouldNotWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		inner := &channels{refused: ErrDenied}
		if _, err := Notify(t.Context(), inner, "e", h.wake); !errors.Is(err, ErrDenied) {
			t.Errorf("got %v", err)
		}
		if _, err := Notify(t.Context(), Wrap(inner), "", h.wake); !errors.Is(err, ErrInvalid) {
			t.Errorf("a name that is empty: %v", err)
		}
		inner.refused = nil
		ended, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("ended")
		cancel(cause)
		_, err := Notify(ended, inner, "e", h.wake)
		synctest.Wait()
		if !errors.Is(err, cause) || inner.watches() != 0 {
			t.Errorf("with an ended context: %v, %d watches", err, inner.watches())
		}
		inner.change()
		h.is(t, "after refusals", 0, 0)
	})
}
