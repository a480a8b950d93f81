package elector

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// Leader is who leads an election, as of a moment ago.
type Leader struct {
	// Candidate is the leader; its ID is empty when nobody leads.
	Candidate backend.Candidate
	// Token is the leader's fencing token, or the last one granted when nobody leads.
	Token int64
	// Age is how long it has led, and Remaining what was left of its lease.
	Age, Remaining time.Duration
}

// Nobody reports that nobody leads.
func (l Leader) Nobody() bool { return l.Candidate.ID == "" }

func leaderOf(r backend.Record) Leader {
	return Leader{Candidate: r.Holder, Token: r.Token, Age: r.Age, Remaining: r.Remaining}
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
		for failures := 0; ctx.Err() == nil; {
			err := o.follow(ctx, func() { failures = 0 })
			if o.stopped || ctx.Err() != nil {
				return
			}
			if err != nil && !yield(Leader{}, err) {
				return
			}
			failures++
			sleep(ctx, rand.N(min(25*time.Millisecond<<min(failures, 20), e.cfg.TTL/2)))
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
}

// follow watches and looks until an error, the end of ctx or of the consumer's interest.
func (o *observer) follow(ctx context.Context, working func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := o.elector.cfg.Store.Watch(ctx, o.elector.cfg.Election)
	if err != nil {
		return err
	}
	for {
		r, err := o.look(ctx)
		if err != nil {
			return err
		}
		working()
		o.report(leaderOf(r))
		if o.stopped {
			return nil
		}
		wait := o.elector.cfg.TTL
		if r.Held() && r.TTL > 0 {
			wait = min(r.Remaining, r.TTL) + core.Lag(r.TTL)
		}
		timer := time.NewTimer(wait)
		select {
		case _, open := <-changes:
			timer.Stop()
			if !open {
				return nil // ended by the store: watch again
			}
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

func (o *observer) look(ctx context.Context) (backend.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, o.elector.cfg.AttemptTimeout)
	defer cancel()
	return o.elector.cfg.Store.Get(ctx, o.elector.cfg.Election)
}

// report yields l if it is news.
func (o *observer) report(l Leader) {
	if o.any && (l.Token < o.last.Token || l.Token == o.last.Token && l.Candidate.ID == o.last.Candidate.ID) {
		return
	}
	if o.any && l.Token == o.last.Token && o.last.Nobody() {
		return // a term that was seen to end does not begin again
	}
	o.last, o.any = l, true
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
