package elector

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// Leader is who leads an election, as of a moment ago.
type Leader struct {
	// Candidate is the leader; its ID is empty when nobody leads.
	Candidate backend.Candidate
	// Token is the leader's fencing token, or the highest one granted or raised so far when nobody leads.
	Token int64
	// Age is how long it has led, and Remaining what was left of its lease.
	Age, Remaining time.Duration
}

// Nobody reports that nobody leads.
func (l Leader) Nobody() bool { return l.Candidate.ID == "" }

func leaderOf(r backend.Record) Leader {
	l := Leader{Candidate: r.Holder, Token: r.Token, Age: r.Age, Remaining: r.Remaining}
	if l.Nobody() {
		l.Token = max(r.Token, r.Counter) // a record that was removed keeps its counter alone
	}
	return l
}

// Leader asks the store who leads. An elector need not campaign to ask. It returns the store's error, wrapped.
func (e *Elector) Leader(ctx context.Context) (Leader, error) {
	r, err := e.cfg.Store.Get(ctx, e.cfg.Election)
	if err != nil {
		return Leader{}, err
	}
	return leaderOf(r), nil
}

// Observe follows who leads: it yields the present leader, or that nobody leads, and then each change, in the order of tokens and never backwards. Between two
// yields several changes may have happened; the latest is reported. Errors of the store are yielded with a zero Leader and survived, with growing
// waits; the sequence ends only with ctx or the loop that ranges over it.
//
// It runs on the caller's goroutine: a slow consumer delays nobody.
func (e *Elector) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		o := observer{elector: e, yield: yield}
		for failures := 1; ctx.Err() == nil; failures++ {
			began := time.Now()
			err := o.follow(ctx)
			if o.stopped || ctx.Err() != nil || err != nil && !yield(Leader{}, err) {
				return
			}
			if time.Since(began) >= e.cfg.TTL { // the watch was of use
				failures = 1
			}
			sleep(ctx, o.backoff(failures))
		}
	}
}

// observer is one ranging over Observe.
type observer struct {
	elector *Elector
	yield   func(Leader, error) bool
	last    Leader
	any     bool // something was yielded
	stopped bool
	futile  int // looks in a row that came early and found nothing new
}

// follow watches and looks until an error, the end of ctx or of the consumer's interest.
func (o *observer) follow(ctx context.Context) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, deaf := o.watch(watching, cancel)
	for {
		r, err := o.look(ctx)
		if err != nil {
			return err
		}
		o.report(leaderOf(r))
		if o.stopped || deaf != nil { // without a watch, this look was all for now
			return deaf
		}
		timer := time.NewTimer(o.wait(r))
		select {
		case _, open := <-changes:
			timer.Stop()
			if !open {
				return nil // ended by the store: watch again
			}
			o.futile++
			sleep(ctx, o.early())
		case <-timer.C:
			if r.Remaining > 0 || !r.Held() {
				o.futile = 0
			}
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// watch opens a watch, and gives up when that takes too long.
func (o *observer) watch(ctx context.Context, cancel func()) (<-chan struct{}, error) {
	patience := time.AfterFunc(o.elector.cfg.AttemptTimeout, cancel)
	changes, err := o.elector.cfg.Store.Watch(ctx, o.elector.cfg.Election)
	if !patience.Stop() && err == nil {
		err = context.DeadlineExceeded
	}
	return changes, err
}

// wait is when to look again if no change is reported.
func (o *observer) wait(r backend.Record) time.Duration {
	if !r.Held() {
		return o.elector.cfg.TTL
	}
	left := min(r.Remaining, r.TTL, math.MaxInt64/2)
	if left <= 0 { // it should be gone, but the store has not let go of it yet
		o.futile++
		left = o.early()
	}
	return left + core.Lag(r.TTL)
}

// early is the wait before a look that a wake-up asks for: wake-ups that keep coming and tell nothing are believed less and less.
func (o *observer) early() time.Duration {
	if o.futile < core.Patience {
		return 0
	}
	return o.backoff(o.futile - core.Patience)
}

func (o *observer) backoff(n int) time.Duration {
	return rand.N(max(1, core.Ceiling(n, o.elector.cfg.TTL/2)))
}

func (o *observer) look(ctx context.Context) (backend.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, o.elector.cfg.AttemptTimeout)
	defer cancel()
	return o.elector.cfg.Store.Get(ctx, o.elector.cfg.Election)
}

// report yields l if it is news.
func (o *observer) report(l Leader) {
	if o.any && (l.Token < o.last.Token || l.Token == o.last.Token && l.Candidate.ID == o.last.Candidate.ID || l.Nobody() && o.last.Nobody()) {
		return
	}
	if o.any && l.Token == o.last.Token && o.last.Nobody() {
		return // a term that was seen to end does not begin again
	}
	o.last, o.any, o.futile = l, true, 0
	o.stopped = !o.yield(l, nil)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
