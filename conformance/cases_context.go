package conformance

import (
	"context"
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var contextCases = []Case{
	{Name: "calls with a context that has ended return with its cause", Rule: s10, Covers: []string{"R56"}, run: endedContext},
	{Name: "calls whose contexts end while they run return soon and leave the store usable", Rule: s10, Covers: []string{"R56", "R25"}, run: endingContexts},
	{Name: "calls on a closed store say that it is closed", Rule: s10, run: callsAfterClose},
	{Name: "a second close succeeds", Rule: s10, Covers: []string{"EC71"}, run: closeTwice},
	{Name: "a store closed during calls ends them and leaves other clients alone", Rule: s10, run: closeDuringCalls},
}

// calls lists every operation of a store on the trial's election.
func (t *trial) calls(s backend.LeaseStore) map[string]func(context.Context) error {
	l := backend.Lease{Election: t.election, Holder: t.id("P"), Token: 1, Attempt: t.attempt(), TTL: t.long}
	return map[string]func(context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := s.Acquire(ctx, t.claim("P")); return err },
		"renew":   func(ctx context.Context) error { _, err := s.Renew(ctx, l); return err },
		"release": func(ctx context.Context) error { return s.Release(ctx, l, backend.Handover{}) },
		"get":     func(ctx context.Context) error { _, err := s.Get(ctx, t.election); return err },
		"watch":   func(ctx context.Context) error { _, err := s.Watch(ctx, t.election); return err },
	}
}

func endedContext(t *trial) {
	cause := errors.New("the caller has lost interest")
	ctx, cancel := context.WithCancelCause(t.ctx)
	cancel(cause)
	for op, call := range t.calls(t.a) {
		start := time.Now()
		err := call(ctx)
		t.soon(op, start)
		if !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: got %v, want its cause", op, orSuccess(err))
		}
		t.isOp(err, op, backend.Unknown)
	}
	t.isFree(t.b, "calls whose contexts had ended before")
}

// soon checks that a call returned not long after it had to.
func (t *trial) soon(op string, since time.Time) {
	if late := time.Since(since); late > generous {
		t.Errorf("%s returned %v after its context had ended", op, late)
	}
}

func endingContexts(t *trial) {
	t.together(rivals, func(i int) {
		s := t.client(i)
		for range 10 {
			d := t.jitter(2 * time.Millisecond)
			ctx, cancel := context.WithTimeout(t.ctx, d)
			start := time.Now()
			l, err := s.Acquire(ctx, t.claim(rival(i)))
			t.soon("acquire", start.Add(d))
			cancel()
			if err == nil {
				_ = s.Release(t.ctx, l, backend.Handover{})
			}
		}
	})
	// A claim that was cut off may hold the election. Another one must still be usable.
	t.election += "/2"
	t.renew(t.a, t.grant(t.a, t.claim("P")))
	_, err := t.b.Acquire(t.ctx, t.claim("Q"))
	t.refused("acquire of a held election", err, backend.ErrHeld)
}

func callsAfterClose(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	if err := t.a.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for op, call := range t.calls(t.a) {
		t.isOp(call(t.ctx), op, backend.Closed)
	}
	if limits := t.a.Limits(); limits.Store != t.limits.Store {
		t.Errorf("Limits after Close tells %+v, want %+v", limits, t.limits)
	}
	t.stillHeld(t.b, l, "its client was closed")
}

func closeTwice(t *trial) {
	s := t.open()
	t.grant(s, t.claim("P"))
	for range 3 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	never := t.open()
	t.together(rivals, func(int) {
		if err := never.Close(); err != nil {
			t.Errorf("close of a client that made no call, many times at once: %v", err)
		}
	})
}

func closeDuringCalls(t *trial) {
	s := t.open()
	t.together(rivals+1, func(i int) {
		if i == rivals {
			pause(t.ctx, t.jitter(2*time.Millisecond))
			if err := s.Close(); err != nil {
				t.Errorf("close during calls: %v", err)
			}
			return
		}
		for t.ctx.Err() == nil {
			_, err := s.Get(t.ctx, t.election)
			if errors.Is(err, backend.ErrClosed) {
				return
			}
			pause(t.ctx, 50*time.Microsecond)
		}
		t.Errorf("calls go on after the store was closed")
	})
	t.renew(t.b, t.grant(t.b, t.claim("P")))
}
