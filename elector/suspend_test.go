package elector

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
)

// suspend is what a suspend looks like from inside: monotonic clock and timers have stood still.
func (h *handClock) suspend(d time.Duration) {
	h.wall.Add(int64(d))
	h.boot.Add(int64(d))
}

// withClocks plays a test on a machine with and on one without a boot clock.
func withClocks(t *testing.T, f func(t *testing.T, hands *handClock, hasBoot bool)) {
	t.Helper()
	for name, hasBoot := range map[string]bool{"boot clock": true, "wall clock only": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, new(handClock), hasBoot) })
		})
	}
}

// comes waits for what has to come: in a bubble a loop that goes on renewing would wait for ever beside it.
func comes[T any](t *testing.T, what <-chan T) T {
	t.Helper()
	select {
	case v := <-what:
		return v
	case <-time.After(10 * ttl):
		t.Error("it did not come") // not Fatal: the test has to end its elector, or the bubble goes on for ever
		var none T
		return none
	}
}

func electorWith(t *testing.T, cfg Config, hands *handClock, hasBoot bool) *Elector {
	t.Helper()
	e, err := newElector(cfg, hands.source(hasBoot))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// E7, EC75: the loop's own deadline counts suspend. Nobody asks; what has Done in hand is told all the same.
func TestTheLoopsDeadlineCountsSuspend(t *testing.T) {
	withClocks(t, func(t *testing.T, hands *handClock, hasBoot bool) {
		var ev events
		cfg := config(memory.New(), "a")
		cfg.Events = ev.add
		e := electorWith(t, cfg, hands, hasBoot)
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done := term.Context().Done()
		pass(2 * ttl)
		synctest.Wait()
		hands.suspend(time.Minute)
		at := time.Now()
		comes(t, done)
		if took := time.Since(at); took > 2*watchful {
			t.Errorf("noticed after %v", took)
		}
		_ = term.Resign(t.Context())
		_ = e.Close()
		if lost := ev.kinds(Lost); len(lost) != 1 || !errors.Is(context.Cause(term.Context()), ErrDeadline) {
			t.Errorf("%d times lost, cause %v", len(lost), context.Cause(term.Context()))
		}
	})
}

// E3, E7: several short suspends, each far from the deadline, add up while no renewal gets through.
func TestShortSuspendsAddUp(t *testing.T) {
	withClocks(t, func(t *testing.T, hands *handClock, hasBoot bool) {
		f := newFaulty(memory.New())
		e := electorWith(t, config(f, "a"), hands, hasBoot)
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pass(2 * ttl)
		for n := f.count("renew"); f.count("renew") == n; {
			pass(time.Millisecond)
		}
		confirmed := time.Now()
		f.set(func(context.Context, string) error { return errInjected }, nil)
		done := term.Context().Done()
		const nap = 600 * time.Millisecond
		for range 4 {
			pass(100 * time.Millisecond)
			hands.suspend(nap)
		}
		if !e.Leading() {
			t.Error("it gave up before its deadline")
		}
		comes(t, done)
		limit := e.Config().Timing().CancelAfter
		if gone := time.Since(confirmed) + 4*nap; gone < limit-2*time.Millisecond || gone > limit+watchful {
			t.Errorf("cancelled %v after the last renewal, suspends included; want %v", gone, limit)
		}
		_ = term.Resign(t.Context())
		_ = e.Close()
	})
}

// sleepsIn makes the machine sleep while the reply to an operation is on its way, the first time, and returns a channel that tells.
func (h *handClock) sleepsIn(f *faulty, op string, d time.Duration) <-chan struct{} {
	slept := make(chan struct{})
	f.set(nil, func(_ context.Context, at string) error {
		select {
		case <-slept:
		default:
			if at == op {
				h.suspend(d)
				close(slept)
			}
		}
		return nil
	})
	return slept
}

// E1, E7: a grant that was on its way during a suspend is none: deadlines count from the clocks' reading before the request.
func TestAGrantFromBeforeASuspendIsNone(t *testing.T) {
	withClocks(t, func(t *testing.T, hands *handClock, hasBoot bool) {
		f := newFaulty(memory.New())
		e := electorWith(t, config(f, "a"), hands, hasBoot)
		hands.sleepsIn(f, "acquire", time.Minute)
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := f.count("acquire"); n < 2 || !e.Leading() || !term.Valid() {
			t.Errorf("after %d claims it leads %v, valid %v", n, e.Leading(), term.Valid())
		}
		_ = term.Resign(t.Context())
		_ = e.Close()
	})
}

// E1, E7: a renewal counts from before the suspend that its reply slept through.
func TestARenewalFromBeforeASuspend(t *testing.T) {
	withClocks(t, func(t *testing.T, hands *handClock, hasBoot bool) {
		const nap = 2 * time.Second
		f := newFaulty(memory.New())
		e := electorWith(t, config(f, "a"), hands, hasBoot)
		slept := hands.sleepsIn(f, "renew", nap)
		term, err := e.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		comes(t, slept)
		synctest.Wait()
		if left, most := term.CancelIn(), e.Config().Timing().CancelAfter-nap; left <= 0 || left > most {
			t.Errorf("its work may go on for %v, want up to %v", left, most)
		}
		_ = term.Resign(t.Context())
		_ = e.Close()
	})
}

// E4, E7: a suspend while stepping down ends belief as it does while leading, and work that goes on is an overrun.
func TestASuspendWhileSteppingDown(t *testing.T) {
	withClocks(t, func(t *testing.T, hands *handClock, hasBoot bool) {
		finish, overran := make(chan struct{}), make(chan struct{})
		cfg := config(memory.New(), "a")
		cfg.OnOverrun = func(Overrun) { close(overran) }
		a := startAs(t, electorWith(t, cfg, hands, hasBoot), func(context.Context, *Term) error { <-finish; return nil })
		term := comes(t, a.terms)
		_ = term.Resign(t.Context())
		pass(3 * ttl)
		synctest.Wait()
		if a.Leading() || !term.Valid() {
			t.Errorf("stepping down: leads %v, valid %v", a.Leading(), term.Valid())
		}
		hands.suspend(time.Minute)
		if term.Valid() || term.Remaining() > 0 || term.CancelIn() > 0 {
			t.Errorf("after the suspend: valid %v, %v remaining, cancelled in %v", term.Valid(), term.Remaining(), term.CancelIn())
		}
		at := time.Now()
		comes(t, overran)
		if took := time.Since(at); took > 2*watchful {
			t.Errorf("the overrun was told after %v", took)
		}
		close(finish)
		_ = a.end()
	})
}

// PE33: a store that forgot who leads is not claimed for a TTL by candidates that had seen the leader. That wait is the monotonic clock's alone: a leap of the others doesn't shorten it.
func TestALeapShortensNoWaitBeforeATakeOver(t *testing.T) {
	withClocks(t, func(t *testing.T, hands *handClock, hasBoot bool) {
		server := memory.NewServer()
		a := newTest(t, config(server.Client(), "a"))
		term, err := a.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		store := &forget{Store: server.Client()}
		store.lose(store.Store)
		b := startAs(t, electorWith(t, config(store, "b"), hands, hasBoot), func(ctx context.Context, _ *Term) error { <-ctx.Done(); return ctx.Err() })
		pass(2*ttl + time.Millisecond)
		forgot := time.Now()
		store.lose(memory.NewServer().Client())
		server.Remove("e") // wakes b, as the connection that comes back does
		synctest.Wait()
		hands.suspend(time.Hour)
		pass(2 * watchful)
		server.Remove("e")
		comes(t, b.terms)
		if took := time.Since(forgot); took < ttl {
			t.Errorf("it leads %v after the store forgot, within the TTL of the leader before", took)
		}
		_ = b.end()
		_ = term.Resign(t.Context())
		_ = a.Close()
	})
}
