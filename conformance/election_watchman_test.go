package conformance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// watchman looks after one term of a broken elector.
type watchman struct {
	elector *brokenElector
	term    *brokenTerm
	ctx     context.Context //nolint:containedctx // of Run

	renewAt  time.Time
	failures int
	stopping time.Time // when it was told to step down
	told     bool      // of the overrun
	lost     bool
	gone     bool // the lease is not ours any more
}

func (w *watchman) working() bool {
	select {
	case <-w.term.returned:
		return false
	default:
		return true
	}
}

// wait waits for whatever comes next and deals with it.
func (w *watchman) wait() {
	e, t := w.elector, w.term
	if w.renewAt.IsZero() {
		w.renewAt = t.start.Add(w.interval())
	}
	asked, closed := w.ctx.Done(), (<-chan struct{})(e.closed)
	if !w.stopping.IsZero() {
		asked, closed = nil, nil
	}
	next := e.TTL / 20
	if w.renews() {
		next = min(max(time.Until(w.renewAt), 0), next)
	}
	timer := time.NewTimer(next)
	defer timer.Stop()
	select {
	case <-t.returned:
		return
	case <-asked:
		w.stop(fmt.Errorf("%w: %w", elector.ErrResigned, context.Cause(w.ctx)))
	case <-closed:
		w.stop(elector.ErrClosed)
	case <-timer.C:
	}
	if w.stopping.IsZero() && t.ctx.Err() != nil {
		w.stopping = time.Now() // by Resign or by a look
		w.lost = w.lost || t.age() >= e.cancelAfter()
	}
	w.passTime()
	if time.Until(w.renewAt) <= 0 && w.renews() {
		w.renew()
	}
}

func (w *watchman) interval() time.Duration {
	if w.elector.has("a leader renews ten times per TTL") {
		return w.elector.TTL / 10
	}
	return w.elector.RenewInterval
}

func (w *watchman) stop(cause error) {
	w.stopping = time.Now()
	w.term.stepDown(cause)
	if w.elector.has("a lease is given back when its context ends") {
		w.elector.release(w.term)
	}
}

// renews reports whether the lease is still to be kept.
func (w *watchman) renews() bool {
	e := w.elector
	switch {
	case w.gone || w.lost:
		return false
	case !w.stopping.IsZero() && e.has("renewing ends with the context"):
		return false
	case !w.stopping.IsZero() && time.Since(w.stopping) > e.DrainTimeout && !e.has("renewing goes on after the grace period"):
		return false
	}
	return true
}

// passTime ends what the clock has ended.
func (w *watchman) passTime() {
	e, t := w.elector, w.term
	if t.leading.Load() && t.age() >= e.cancelAfter() && !e.has("belief ends when the store says so") {
		w.lost = true
		t.stepDown(elector.ErrDeadline)
	}
	t.flag.Store(t.leading.Load())
	drained := !w.stopping.IsZero() && time.Since(w.stopping) > e.DrainTimeout
	if drained && e.has("a lease is given back after the grace period") && !w.gone {
		w.gone = true
		e.release(t)
	}
	if !w.told && t.age() >= e.hard && !e.has("OnOverrun is forgotten") {
		w.told = true
		e.OnOverrun(elector.Overrun{})
	}
}

func (w *watchman) renew() {
	e, t := w.elector, w.term
	sent := time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), e.AttemptTimeout)
	defer cancel()
	l, err := e.Store.Renew(ctx, t.lease)
	if e.has("belief is counted from the reply") {
		sent = time.Now()
	}
	switch {
	case err == nil:
		if t.age() < e.cancel || !w.stopping.IsZero() {
			t.lease, w.failures = l, 0
			t.anchor.Store(int64(sent.Sub(t.start)))
		}
		w.renewAt = sent.Add(w.interval())
	case errors.Is(err, backend.ErrNotHeld):
		w.lost, w.gone = true, true
		t.valid.Store(false)
		t.stepDown(fmt.Errorf("%w: %w", w.lossCause(), err))
	case e.has("the first failed renewal ends the term"):
		w.lost = true
		t.stepDown(fmt.Errorf("%w: %w", elector.ErrDeadline, err))
	default:
		w.failures++
		w.renewAt = time.Now().Add(e.RenewInterval / 4)
		if errors.Is(err, backend.ErrDenied) && t.age() >= e.cancel-e.RenewInterval/2 {
			w.lost = true
			t.stepDown(elector.ErrDenied)
		}
	}
}

func (w *watchman) lossCause() error {
	if w.elector.has("a lost lease ends the term as resigned") {
		return elector.ErrResigned
	}
	return elector.ErrLost
}

// Observe looks at each wake-up, and once per TTL.
func (e *brokenElector) Observe(ctx context.Context) iter.Seq2[elector.Leader, error] {
	return func(yield func(elector.Leader, error) bool) {
		woken := e.watch(ctx)
		var last, earlier elector.Leader
		for first := true; ctx.Err() == nil; {
			call, cancel := context.WithTimeout(ctx, e.AttemptTimeout)
			r, err := e.Store.Get(call, e.Election)
			cancel()
			l := elector.Leader{Candidate: r.Holder, Token: r.Token}
			if l.Nobody() {
				l.Token = max(r.Token, r.Counter)
			}
			news := err == nil && (first || l != last) && (l.Token > last.Token || l.Token == last.Token && (first || l.Nobody()))
			if l.Nobody() && e.has("an observer is not told that nobody leads") {
				news = false
			}
			if news {
				if e.has("an observer is told of the leader before once more") && earlier.Token > 0 && !yield(earlier, nil) {
					return
				}
				if !yield(l, nil) {
					return
				}
				earlier, last, first = last, l, false
			}
			wait := e.TTL
			if r.Held() {
				wait = min(wait, r.Remaining+10*time.Millisecond)
			}
			timer := time.NewTimer(max(wait, time.Millisecond))
			select {
			case <-woken:
			case <-timer.C:
			case <-ctx.Done():
			}
			timer.Stop()
		}
	}
}
