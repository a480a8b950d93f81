package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a store that ignores its context and answers when it is let go, or closed.
type stuck struct {
	LeaseStore
	hold  chan struct{}
	calls atomic.Int64
	ttl   atomic.Int64
	err   error
}

func (s *stuck) Limits() Limits {
	return Limits{Store: "stuck", MinTTL: time.Second, MaxTTL: time.Hour, Granularity: time.Second}
}

func (s *stuck) Acquire(_ context.Context, c Claim) (Lease, error) {
	s.calls.Add(1)
	s.ttl.Store(int64(c.TTL))
	<-s.hold
	return Lease{}, s.err
}

func (s *stuck) Close() error { return nil }

func claim() Claim {
	return Claim{Election: "e", Candidate: Candidate{ID: "a"}, TTL: time.Minute, Attempt: Attempt{1}}
}

// S10, R56: a call returns when its context ends, whatever the driver does, and Close waits for the driver.
func TestACallReturnsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &stuck{hold: make(chan struct{})}
		s := Wrap(inner)
		began := time.Now()
		ended := errors.New("ended")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, ended)
		defer cancel()
		_, err := s.Acquire(ctx, claim())
		if !errors.Is(err, ended) || ClassOf(err) != Unknown || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if _, err := s.Acquire(ctx, claim()); !errors.Is(err, ended) || inner.calls.Load() != 1 {
			t.Errorf("a call with an ended context reached the driver: %v", err)
		}
		time.AfterFunc(time.Second, func() { close(inner.hold) })
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if time.Since(began) != 2*time.Second {
			t.Errorf("Close did not wait for the driver: %v", time.Since(began))
		}
		if err := s.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
		if _, err := s.Acquire(t.Context(), claim()); !errors.Is(err, ErrClosed) || ClassOf(err) != Closed {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestCloseSaysThatADriverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &stuck{hold: make(chan struct{})}
		s := Wrap(inner)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = s.Acquire(ctx, claim())
		if err := s.Close(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(inner.hold)
	})
}

func TestBadArgumentsNeverReachTheDriver(t *testing.T) {
	inner := &stuck{hold: make(chan struct{})}
	close(inner.hold)
	s := Wrap(inner)
	change := func(f func(*Claim)) Claim {
		c := claim()
		f(&c)
		return c
	}
	for says, c := range map[string]Claim{
		"election is empty":                change(func(c *Claim) { c.Election = "" }),
		"election is 257 bytes":            change(func(c *Claim) { c.Election = strings.Repeat("x", 257) }),
		"is not valid UTF-8":               change(func(c *Claim) { c.Election = "a\xff" }),
		"candidate's ID is empty":          change(func(c *Claim) { c.Candidate.ID = "" }),
		"1s to 1h0m0s":                     change(func(c *Claim) { c.TTL = time.Millisecond }),
		"TTL 2h0m0s is outside":            change(func(c *Claim) { c.TTL = 2 * time.Hour }),
		"has no attempt":                   change(func(c *Claim) { c.Attempt = Attempt{} }),
		"floor -1":                         change(func(c *Claim) { c.Floor = -1 }),
		"lists its own attempt as abandon": change(func(c *Claim) { c.Abandoned = []Attempt{{1}} }),
	} {
		_, err := s.Acquire(t.Context(), c)
		var op *OpError
		if !errors.Is(err, ErrInvalid) || !errors.As(err, &op) || op.Op != "acquire" || op.Store != "stuck" || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: got %v", says, err)
		}
	}
	lease := Lease{Election: "e", Holder: "a", Token: 1, Attempt: Attempt{1}, TTL: time.Minute}
	bad := lease
	bad.Token = 0
	if _, err := s.Renew(t.Context(), bad); !errors.Is(err, ErrInvalid) {
		t.Errorf("renew without a token: %v", err)
	}
	if err := s.Release(t.Context(), lease, Handover{To: "b"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a reservation without a time: %v", err)
	}
	if _, err := s.Get(t.Context(), ""); !errors.Is(err, ErrInvalid) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Watch(t.Context(), ""); !errors.Is(err, ErrInvalid) {
		t.Errorf("watch: %v", err)
	}
	if raiser, _ := As[TokenRaiser](s); !errors.Is(raiser.Raise(t.Context(), "e", 1), ErrInvalid) {
		t.Error("raise on a store that can't")
	}
	if inner.calls.Load() != 0 {
		t.Error("the driver was called")
	}
}

// S12, PE34: what the store can't keep exactly is rounded up.
func TestTTLIsRoundedUpToTheStoresUnit(t *testing.T) {
	inner := &stuck{hold: make(chan struct{})}
	close(inner.hold)
	c := claim()
	c.TTL = 1500 * time.Millisecond
	_, _ = Wrap(inner).Acquire(t.Context(), c)
	if got := time.Duration(inner.ttl.Load()); got != 2*time.Second {
		t.Errorf("got %v", got)
	}
}

func TestWrapIsIdempotentAndAsFindsWhatIsInside(t *testing.T) {
	inner := &stuck{}
	once := Wrap(inner)
	if Wrap(once) != once {
		t.Error("wrapped twice")
	}
	if got, ok := As[*stuck](once); !ok || got != inner {
		t.Error("As does not find the driver")
	}
	if _, ok := As[Warner](once); ok {
		t.Error("As finds what is not there")
	}
}

func TestNoErrorShowsASecret(t *testing.T) {
	inner := &stuck{hold: make(chan struct{}), err: fmt.Errorf("dial redis://:p%%40ss@h: %w, p@ss", ErrDenied)}
	close(inner.hold)
	s := wrap(inner, []string{"p@ss"})
	_, err := s.Acquire(t.Context(), claim())
	if strings.Contains(err.Error(), "p@ss") || strings.Contains(err.Error(), "p%40ss") || !errors.Is(err, ErrDenied) || ClassOf(err) != Denied {
		t.Errorf("got %v", err)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "p@ss") {
			t.Errorf("unwrapping shows %v", e)
		}
	}
}

func TestEscapeIsInjectiveAndPlain(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a", "a/b", "a%2Fb", "a%252Fb", "{a}", "a b", "ä", "a\x00", "A", ".", "..", "*", "a:b", "a\nb"} {
		e := Escape(name)
		if strings.Trim(e, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-%") != "" {
			t.Errorf("%q gives %q", name, e)
		}
		if other, taken := seen[e]; taken {
			t.Errorf("%q and %q give %q", name, other, e)
		}
		seen[e] = name
	}
}

func TestDescriptionGoesThereAndBack(t *testing.T) {
	d := Description{App: "a\"b", Host: "h", Port: 1, Version: "2", Address: "x"}
	if got := DecodeDescription(d.Encode()); got != d {
		t.Errorf("got %+v", got)
	}
	if got := DecodeDescription("{"); got != (Description{}) {
		t.Errorf("got %+v", got)
	}
	if d.String() != `a"b 2 on h:1` {
		t.Error(d.String())
	}
}
