package elector

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/internal/clock"
)

// handClock is the machine's clocks with hands that a test can turn. The boot clock goes with the monotonic one.
type handClock struct{ wall, boot atomic.Int64 }

func (h *handClock) source(hasBoot bool) *clock.Source {
	machine := clock.New()
	return &clock.Source{
		Sample: func() (int64, int64) {
			mono, wall := machine.Sample()
			return mono, wall + h.wall.Load()
		},
		Boot: func() (int64, bool) {
			mono, _ := machine.Sample()
			return mono + h.boot.Load(), hasBoot
		},
	}
}

// E7, PE30, IN36, R27, EC75: after a suspend everything is off with no event delivered; a stepped wall clock alone changes nothing (IN37, PE26).
func TestClocksThatStep(t *testing.T) {
	cases := []struct {
		name       string
		wall, boot time.Duration
		hasBoot    bool
		leads      bool
	}{
		{"suspend: wall and boot clock leap, the monotonic one stands", time.Minute, time.Minute, true, false},
		{"a long suspend", 10 * time.Hour, 10 * time.Hour, true, false},
		{"suspend shorter than the lease", time.Second, time.Second, true, true},
		{"the wall clock is set forward", time.Minute, 0, true, true},
		{"the wall clock is set back", -time.Hour, 0, true, true},
		{"the wall clock leaps where no boot clock tells why", time.Minute, 0, false, false},
		{"the wall clock is set back where there is no boot clock", -time.Minute, 0, false, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var hands handClock
				e, err := newElector(config(memory.New(), "a"), hands.source(c.hasBoot))
				if err != nil {
					t.Fatal(err)
				}
				term, err := e.Campaign(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				pass(2 * ttl)
				synctest.Wait()
				hands.wall.Add(int64(c.wall))
				hands.boot.Add(int64(c.boot))
				// Nothing has run since: what follows is the first instruction after the pause.
				if got := e.Leading(); got != c.leads {
					t.Errorf("Leading is %v", got)
				}
				if got := term.Valid(); got != c.leads {
					t.Errorf("Valid is %v", got)
				}
				if got := term.Context().Err() == nil; got != c.leads {
					t.Errorf("the context's Err is %v", term.Context().Err())
				}
				select {
				case <-term.Context().Done():
					if c.leads {
						t.Error("Done is closed")
					}
				default:
					if !c.leads {
						t.Error("Done is open")
					}
				}
				if !c.leads && !errors.Is(context.Cause(term.Context()), ErrDeadline) {
					t.Errorf("cause is %v", context.Cause(term.Context()))
				}
				pass(time.Second)
				if got := e.Leading(); got != c.leads {
					t.Errorf("a second later Leading is %v", got)
				}
				_ = term.Resign(t.Context())
				_ = e.Close()
			})
		})
	}
}

// A wall clock that was set back hides no suspend of the same length: the loop has looked at all clocks in between.
func TestASteppedWallClockHidesNoSuspend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hands handClock
		e, err := newElector(config(memory.New(), "a"), hands.source(true))
		if err != nil {
			t.Fatal(err)
		}
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pass(2*ttl + time.Millisecond) // just renewed: what follows lies between two renewals
		hands.wall.Add(-int64(time.Minute))
		pass(2 * watchful)
		synctest.Wait()
		if !e.Leading() {
			t.Error("the step alone cost the leadership")
		}
		hands.wall.Add(int64(time.Minute))
		hands.boot.Add(int64(time.Minute))
		if e.Leading() || term.Valid() || term.Context().Err() == nil {
			t.Error("it leads on after a suspend of a minute")
		}
		_ = term.Resign(t.Context())
		_ = e.Close()
	})
}

// The loop notices a suspend although its timers stood still: the work is told within the interval at which it looks at the clocks.
func TestASuspendIsNoticedWithoutBeingAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hands handClock
		e, err := newElector(config(memory.New(), "a"), hands.source(true))
		if err != nil {
			t.Fatal(err)
		}
		began := make(chan struct{})
		ended := make(chan time.Time, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_ = e.Run(ctx, func(ctx context.Context, _ *Term) error {
				done := ctx.Done() // asked before the suspend: only the loop can close it now
				select {
				case <-began:
				default:
					close(began)
				}
				<-done
				select {
				case ended <- time.Now():
				default:
				}
				return nil
			})
		}()
		<-began
		synctest.Wait() // nothing is under way whose end the loop would hear of
		hands.wall.Add(int64(time.Minute))
		hands.boot.Add(int64(time.Minute))
		at := time.Now()
		if took := comes(t, ended).Sub(at); took > 500*time.Millisecond {
			t.Errorf("noticed after %v", took)
		}
		cancel()
		_ = e.Close()
	})
}

// IN37, PE26: an hour in which the wall clock is set to and fro costs nothing where a boot clock tells that there was no suspend.
func TestAClockThatIsSetCostsNoLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hands handClock
		var ev events
		cfg := config(memory.New(), "a")
		cfg.Events = ev.add
		e := electorWith(t, cfg, &hands, true)
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 3600 {
			pass(time.Duration(random.Int64N(int64(2 * time.Second))))
			scale := time.Duration(1) << random.IntN(43) // up to more than an hour
			hands.wall.Add(random.Int64N(int64(2*scale)) - int64(scale))
			if !e.Leading() || !term.Valid() || term.Context().Err() != nil {
				t.Fatalf("a step of the wall clock cost the leadership: %v", context.Cause(term.Context()))
			}
		}
		if len(ev.kinds(ClockJump)) == 0 {
			t.Error("no step was seen: the test tests nothing")
		}
		_ = term.Resign(t.Context())
		_ = e.Close()
		if n := len(ev.kinds(Started)); n != 1 {
			t.Errorf("%d terms", n)
		}
	})
}
