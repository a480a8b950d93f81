package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// brokenElector is a small elector of its own that keeps the guarantees, unless it has a bug: see electionMutants.
type brokenElector struct {
	elector.Config
	bug          string
	cancel, hard time.Duration // after a renewal was sent

	mu     sync.Mutex
	closed chan struct{}
	runs   sync.WaitGroup
	term   *brokenTerm
	terms  int64
}

func newBrokenElector(bug string) func(elector.Config) (candidate, error) {
	return func(cfg elector.Config) (candidate, error) {
		e, err := elector.New(cfg)
		if err != nil {
			return nil, err
		}
		timing := e.Config().Timing()
		return &brokenElector{Config: e.Config(), bug: bug, cancel: timing.CancelAfter, hard: timing.BelieveFor, closed: make(chan struct{})}, nil
	}
}

func (e *brokenElector) has(bug string) bool { return e.bug == bug }

func (e *brokenElector) cancelAfter() time.Duration {
	switch e.bug {
	case "work is cancelled when belief ends, not before":
		return e.hard
	case "belief ends when the store says so":
		return time.Hour
	}
	return e.cancel
}

func (e *brokenElector) Leading() bool {
	e.mu.Lock()
	t := e.term
	e.mu.Unlock()
	switch {
	case t == nil:
		return false
	case e.has("Leading reads a flag that a loop clears"):
		return t.flag.Load()
	case e.has("belief ends when the store says so"):
		return t.leading.Load()
	}
	return t.leading.Load() && t.age() < e.cancel
}

func (e *brokenElector) Close() error {
	e.mu.Lock()
	select {
	case <-e.closed:
	default:
		close(e.closed)
	}
	e.mu.Unlock()
	e.runs.Wait()
	return nil
}

func (e *brokenElector) Run(ctx context.Context, lead func(context.Context, leadership) error) error {
	e.runs.Add(1)
	defer e.runs.Done()
	var abandoned []backend.Attempt
	for ctx.Err() == nil {
		won, err := e.campaign(ctx, &abandoned)
		if err != nil {
			return err
		}
		t := e.begin(ctx, won)
		go func() { //nolint:contextcheck // a term outlives the context of Run
			defer close(t.returned)
			t.result = lead(brokenContext{t.ctx, t}, t)
		}()
		if again := e.reign(ctx, t); !again {
			if errors.Is(context.Cause(t.ctx), elector.ErrClosed) { //nolint:contextcheck // a term outlives the context of Run
				return elector.ErrClosed
			}
			return t.result
		}
	}
	return context.Cause(ctx)
}

// grant is a lease and when it was asked for.
type grant struct {
	lease backend.Lease
	sent  time.Time
}

func (e *brokenElector) campaign(ctx context.Context, abandoned *[]backend.Attempt) (grant, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	woken := e.watch(ctx)
	attempt, unsure := newAttempt(), false
	for failures := 0; ; {
		sent := time.Now()
		call, done := context.WithTimeout(ctx, e.AttemptTimeout)
		l, err := e.Store.Acquire(call, backend.Claim{Election: e.Election, Candidate: e.Candidate, TTL: e.TTL, Attempt: attempt, Abandoned: *abandoned})
		done()
		wait := time.Duration(rand.Int64N(int64(e.TTL / 2)))
		if held, ok := errors.AsType[*backend.HeldError](err); ok {
			failures, wait = 0, held.Record.Wait(e.Candidate.ID)+10*time.Millisecond
			if unsure && !e.has("a claim whose fate is unknown is made again for ever") {
				*abandoned = append(*abandoned, attempt)
				attempt, unsure = newAttempt(), false
			}
		} else if err != nil {
			failures, unsure = failures+1, true
		}
		switch {
		case err == nil && time.Since(sent) < e.cancel:
			return grant{l, sent}, nil
		case err == nil, backend.ClassOf(err) == backend.NotHeld:
			*abandoned = append(*abandoned, attempt)
			attempt = newAttempt()
		case e.has("a candidate gives up after an outage") && failures > 3:
			return grant{}, errors.New("the store is away")
		}
		switch e.bug {
		case "a follower looks twenty times per TTL":
			wait = e.TTL / 20
		case "failures are repeated at once":
			wait = min(wait, time.Duration(1+failures)*e.TTL/1000)
		case "a follower trusts wake-ups alone":
			wait = time.Hour
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			*abandoned = append(*abandoned, attempt)
			return grant{}, context.Cause(ctx)
		case <-e.closed:
			timer.Stop()
			return grant{}, elector.ErrClosed
		case <-woken:
			timer.Stop()
		case <-timer.C:
		}
	}
}

func newAttempt() (a backend.Attempt) {
	for i := range a {
		a[i] = byte(rand.Uint32())
	}
	return a
}

// watch passes wake-ups on for as long as ctx lasts, and watches again when the store ends the watch.
func (e *brokenElector) watch(ctx context.Context) <-chan struct{} {
	woken := make(chan struct{}, 1)
	if e.has("wake-ups are ignored") {
		return woken
	}
	go func() {
		for ctx.Err() == nil {
			changes, err := e.Store.Watch(ctx, e.Election)
			for open := err == nil; open; {
				if _, open = <-changes; open {
					select {
					case woken <- struct{}{}:
					default:
					}
				}
			}
			pause(ctx, e.TTL)
		}
	}()
	return woken
}

func (e *brokenElector) begin(ctx context.Context, won grant) *brokenTerm {
	e.terms++
	t := &brokenTerm{elector: e, lease: won.lease, token: won.lease.Fence(), start: won.sent, returned: make(chan struct{})}
	if e.has("terms are numbered by their candidate") {
		t.token.Value = e.terms
	}
	t.ctx, t.end = context.WithCancelCause(context.WithoutCancel(ctx))
	t.leading.Store(true)
	t.valid.Store(true)
	t.flag.Store(true)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.term = t
	return t
}

// reign renews until the work has returned, and reports whether to campaign again.
func (e *brokenElector) reign(ctx context.Context, t *brokenTerm) (again bool) {
	w := &watchman{elector: e, term: t, ctx: ctx}
	for w.working() {
		w.wait() //nolint:contextcheck // a term outlives the context of Run
	}
	t.valid.Store(false)
	e.mu.Lock()
	e.term = nil
	e.mu.Unlock()
	if t.ctx.Err() == nil {
		t.stepDown(elector.ErrResigned)
	}
	if !w.gone {
		e.release(t) //nolint:contextcheck // a term outlives the context of Run
	}
	return (w.lost || errors.Is(context.Cause(t.ctx), elector.ErrDeadline)) && ctx.Err() == nil //nolint:contextcheck // a term outlives the context of Run
}

func (e *brokenElector) release(t *brokenTerm) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), e.AttemptTimeout)
	defer cancel()
	_ = e.Store.Release(ctx, t.lease, backend.Handover{})
}

func (e *brokenElector) String() string {
	return fmt.Sprintf("%s with the bug %q", e.Candidate.ID, e.bug)
}
