package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

const (
	// defaultTTL is long enough for a busy machine to make a few calls within it, and short enough to wait for.
	defaultTTL = 500 * time.Millisecond
	// longTTL is for leases that must not end within a case.
	longTTL = 2 * caseLimit
	// generous is how long "at once" may take on a busy machine.
	generous = 10 * time.Second
	// callLimit ends a call that hangs.
	callLimit = 30 * time.Second
	// caseLimit ends a case for which the machine is far too slow.
	caseLimit = 3 * time.Minute
	// repeats is how often a case is played that the machine was too slow for, each time with a TTL twice as long.
	repeats = 3
)

// trial is one play of one case: its clients, its election, its history and what went wrong. It is the T of the case.
type trial struct {
	suite    Suite
	rule     Rule
	name     string
	ctx      context.Context //nolint:containedctx // ends with the trial; a T carries one
	rand     *rand.Rand      // guarded by mu
	suffix   string          // makes names that no other trial has
	election string
	limits   backend.Limits
	ttl      time.Duration // of leases whose end the case waits for
	long     time.Duration // of leases that outlive the case
	started  time.Time
	history  *history
	a, b     *recorder // two clients of one service
	stage    *stage    // of an election case
	last     bool      // the case is not played again
	troubled bool      // by the case itself: calls may fail

	mu       sync.Mutex
	result   Result
	cleanups []func()
}

var _ T = (*trial)(nil)

// play plays a case, again with longer TTLs while the machine is too slow to decide it.
func play(ctx context.Context, s Suite, c Case, name string) (Result, backend.Limits) {
	began := time.Now()
	for i := 0; ; i++ {
		t := newTrial(ctx, s, c, name)
		t.last = i == repeats-1
		t.play(c, 1<<i)
		if t.result.Outcome != Undecided || t.result.Setup || i == repeats-1 || ctx.Err() != nil {
			t.result.Took = time.Since(began)
			return t.result, t.limits
		}
	}
}

func newTrial(ctx context.Context, s Suite, c Case, name string) *trial {
	source := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) // not for secrets: names and attempts of a test
	suffix := fmt.Sprintf("%012x", source.Uint64()>>16)
	return &trial{
		suite: s, rule: c.Rule, name: name, ctx: ctx, rand: source, suffix: suffix, election: "conformance-" + suffix,
		started: time.Now(), history: new(history), result: Result{Case: c, Outcome: Holds},
	}
}

// play runs the case in a goroutine of its own, which FailNow can end, and then checks the history.
func (t *trial) play(c Case, stretch int) {
	ctx, cancel := context.WithTimeoutCause(t.ctx, caseLimit, errors.New("the machine was too slow: the case has taken too long"))
	defer cancel()
	t.ctx = ctx
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer t.cleanup()
		defer t.recover()
		t.a, t.b = t.open(), t.open()
		t.ttl = t.suite.TTL
		if t.ttl == 0 {
			t.ttl = max(defaultTTL, t.limits.MinTTL)
		}
		t.ttl = min(t.ttl*time.Duration(stretch), t.limits.MaxTTL)
		t.long = min(max(longTTL, 10*t.ttl), t.limits.MaxTTL)
		c.run(t)
	}()
	<-done
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Failures = append(t.result.Failures, t.history.check(t.limits)...)
	if t.stage != nil {
		t.result.Failures = append(t.result.Failures, t.stage.check()...)
	}
	if len(t.result.Failures) > 0 && !t.result.Setup {
		t.result.Outcome = Violated
	}
}

func (t *trial) recover() {
	if r := recover(); r != nil {
		t.Errorf("panic: %v\n%s", r, debug.Stack())
	}
}

// cleanup runs what Cleanup was given, last first, while the trial's context still lives.
func (t *trial) cleanup() {
	for {
		t.mu.Lock()
		if len(t.cleanups) == 0 {
			t.mu.Unlock()
			return
		}
		f := t.cleanups[len(t.cleanups)-1]
		t.cleanups = t.cleanups[:len(t.cleanups)-1]
		t.mu.Unlock()
		f()
	}
}

// open opens one more client.
func (t *trial) open() *recorder {
	if t.suite.Open == nil {
		opener{t}.Fatalf("Suite.Open is required")
	}
	s := t.suite.Open(opener{t})
	if s == nil {
		opener{t}.Fatalf("Suite.Open returned nil")
	}
	return t.record(s)
}

// record makes a client's calls a part of the history, and closes it at the end.
func (t *trial) record(s backend.LeaseStore) *recorder {
	r := t.history.recorder(backend.Wrap(s))
	t.limits = r.Limits()
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r
}

func (t *trial) Helper()                  {}
func (t *trial) Name() string             { return t.name }
func (t *trial) Context() context.Context { return t.ctx }

func (t *trial) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *trial) Logf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.Log = append(t.result.Log, fmt.Sprintf(format, args...))
}

// Errorf reports a violation of the case's rule and goes on.
func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	reason := t.tooLate()
	if err := t.history.trouble(); reason == "" && err != nil && !t.last && !t.troubled {
		reason = fmt.Sprintf("the store was in trouble: %v", err)
	}
	if reason != "" {
		t.result.Outcome, t.result.Reason = Undecided, reason
		return
	}
	t.result.Failures = append(t.result.Failures, Failure{t.rule, fmt.Sprintf(format, args...)})
}

// tooLate says why what the case sees now tells nothing about the store.
func (t *trial) tooLate() string {
	switch {
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx).Error()
	case t.long > 0 && time.Since(t.started) >= t.long-tolerance(t.long)-t.limits.ClockStep:
		return "the machine was too slow: leases that should outlive the case may be over"
	}
	return ""
}

// Fatalf reports a violation of the case's rule and ends the case.
func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	t.FailNow()
}

func (t *trial) FailNow() { runtime.Goexit() }

// stop ends the case without a verdict.
func (t *trial) stop(o Outcome, format string, args ...any) {
	t.mu.Lock()
	t.result.Outcome, t.result.Reason = o, fmt.Sprintf(format, args...)
	t.mu.Unlock()
	runtime.Goexit()
}

// opener is the T of the suite's own functions: where they fail, nothing is said about the store.
type opener struct{ *trial }

func (o opener) Errorf(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.result.Outcome, o.result.Setup = Undecided, true
	o.result.Reason = fmt.Sprintf(format, args...)
}

func (o opener) Fatalf(format string, args ...any) {
	o.Errorf(format, args...)
	o.FailNow()
}

func (o opener) FailNow() {
	o.mu.Lock()
	o.result.Outcome, o.result.Setup = Undecided, true
	o.mu.Unlock()
	runtime.Goexit()
}
