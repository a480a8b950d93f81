package elector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// spread is the time over which followers that were woken at once spread their claims.
const spread = 5 * time.Millisecond

// Elector takes part in one election on behalf of one candidate. Make one with New; it is safe for concurrent use. It starts no goroutine before it is
// asked to campaign.
type Elector struct {
	cfg     Config
	loop    *loop
	member  *member
	callers atomic.Uint64

	presence *presence // nil: it isn't listed and can always lead

	mu     sync.Mutex
	closed bool
}

// New returns an elector. It returns an error that wraps backend.ErrInvalid and lists every problem when the configuration is not valid. It does not
// contact the store.
func New(cfg Config) (*Elector, error) { return newElector(cfg, clock.New()) }

func newElector(cfg Config, source *clock.Source) (*Elector, error) {
	if cfg.Store != nil {
		cfg.Store = backend.Wrap(cfg.Store)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	cfg.warn()
	l := newLoop(cfg, source)
	return &Elector{cfg: cfg, loop: l, member: newMember(l, cfg.Election), presence: newPresence(cfg, l)}, nil
}

// Config returns the configuration with all defaults filled in.
func (e *Elector) Config() Config { return e.cfg }

// Leading reports whether this candidate leads and may begin new work. It compares clocks and is right from the first instruction after a pause of
// any length; it takes no lock and does no I/O. It is false while guards are being sealed and while the leader is stepping down.
func (e *Elector) Leading() bool {
	b := e.member.belief.Load()
	return b != nil && b.Leading && e.loop.clock.Since(b.Anchor, e.cfg.SafetyMargin) < time.Duration(b.Soft)
}

// Run campaigns and calls lead each time that it is elected, with the term's context and the term. It returns when lead has returned while leading, with lead's error
// after the lease was released, or when ctx ends, with ctx's cause. After a term was lost it campaigns again, whatever lead returned. Errors of the
// store are survived, with growing waits.
//
// Where a candidate is preferred, an operator asks, or Preference.CanLead says no, the term is ended as if it were resigned, and Run campaigns again, whatever lead returned.
//
// Work whose Run has returned is done for this process alone: another candidate is elected next and calls its own lead.
//
// When ctx ends or the term is resigned, the term's context is cancelled and the lease is held and renewed until lead has returned, for DrainTimeout at most, and then released. Run
// returns only when lead has returned. After the end of ctx or Close it returns lead's own error rather than the cause, if lead returned one other than context.Canceled or the cause
// of its context; after a resignation it returns nil if lead returned nil or one of these. A panic of lead passes through Run after the lease was released.
//
// It returns ErrBusy when this elector is campaigning or leading already, ErrClosed after Close, and an error that wraps backend.ErrInvalid, ErrVersion, ErrMoved or
// ErrClosed when the store can't ever grant this election.
func (e *Elector) Run(ctx context.Context, lead func(context.Context, *Term) error) error {
	if lead == nil {
		return fmt.Errorf("elector: %q: %w: Run needs a function", e.cfg.Election, backend.ErrInvalid)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v := &visit{presence: e.presence}
	v.enter()
	defer func() { v.leave(); <-e.presence.left() }()
	w, outcomes := e.want(ctx, core.Run, nil)
	ended := ctx.Done()
	var last *Term
	var own error // of lead, when it was told to end for good
	for {
		select {
		case <-ended:
			ended = nil // once is enough: the end of the campaign comes as an outcome
			e.unwant(w, context.Cause(ctx))
		case o := <-outcomes:
			switch {
			case o.term == nil && last != nil && e.campaignsAgain(ctx, last, o.err):
				w, outcomes = e.want(ctx, core.Run, nil)
			case o.term == nil:
				if !errors.Is(o.err, ErrBusy) { // else what is under way is another's
					e.loop.settle()
				}
				if own != nil {
					return own
				}
				return madeRoom(ctx, o.err)
			case ctx.Err() != nil: // elected in the last moment: nothing is to be done under it
				e.unwant(w, context.Cause(ctx))
				o.term.returned(nil)
			default:
				last = o.term
				e.presence.lead(last)
				own = e.lead(ctx, w, o.term, lead)
			}
		}
	}
}

// lead runs the user's function for one term, and watches over ctx meanwhile. It returns lead's own error if Run is to return that whatever the campaign's
// outcome: the error counts more than the reason for which lead was stopped.
func (e *Elector) lead(ctx context.Context, w *waiter, t *Term, lead func(context.Context, *Term) error) error {
	stop := context.AfterFunc(ctx, func() { e.unwant(w, context.Cause(ctx)) })
	defer stop()
	returned := false
	defer func() {
		if returned {
			return
		}
		// lead panicked or ended its goroutine: give the lease back before that goes on.
		e.unwant(w, errPanicked)
		t.returned(nil)
		<-w.over
	}()
	err := lead(t.Context(), t)
	returned = true
	t.returned(err)
	cause := context.Cause(t.Context())
	if ctx.Err() == nil && !errors.Is(cause, ErrClosed) {
		return nil // the campaign goes on, or ends with err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, cause) {
		return nil
	}
	return err
}

var errPanicked = errors.New("elector: the leader's function panicked")

// Campaign waits until this candidate leads, and returns the term; the caller works beside it and calls Resign when done. ctx bounds the wait alone, never the term.
// It returns ctx's cause when ctx ended first, and otherwise the errors of Run.
func (e *Elector) Campaign(ctx context.Context) (*Term, error) { return e.campaign(ctx, core.Campaign) }

// TryCampaign tries once to lead and does not wait for another holder: it returns an error that wraps backend.ErrHeld, with the record in a *backend.HeldError, when there is
// one. Other errors of the store are returned at once, too.
//
// Where leases end only for a challenger that has watched them (backend.Record.Mode Observed or Beat), a held one is watched until its holder shows a sign of life, for one
// and a half of its TTLs at most: a dead holder would otherwise stay for ever if nobody else campaigns for long.
func (e *Elector) TryCampaign(ctx context.Context) (*Term, error) { return e.campaign(ctx, core.Try) }

func (e *Elector) campaign(ctx context.Context, mode core.Mode) (*Term, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	v := &visit{presence: e.presence}
	e.presence.admit()
	if mode != core.Try { // most tries are refused at once: only their terms are worth listing
		v.enter()
	}
	w, outcomes := e.want(ctx, mode, v.leave)
	select {
	case o := <-outcomes:
		if o.term != nil {
			e.presence.lead(o.term)
			v.enter()
		}
		return o.term, o.err
	case <-ctx.Done():
	}
	e.unwant(w, context.Cause(ctx))
	o := <-outcomes
	if o.term != nil { // elected in the last moment: nothing was done under it
		o.term.resign()
		return nil, context.Cause(ctx)
	}
	return nil, o.err
}

func (e *Elector) want(ctx context.Context, mode core.Mode, left func()) (*waiter, outcomes) {
	told := make(outcomes, 2)
	w := &waiter{id: e.callers.Add(1), values: ctx, run: mode == core.Run, caller: told, over: make(chan struct{}), left: left}
	e.loop.post(posted{member: e.member, waiter: w, event: core.Event{Kind: core.Want, Mode: mode, Caller: w.id}})
	return w, told
}

func (e *Elector) unwant(w *waiter, cause error) {
	e.loop.post(posted{member: e.member, event: core.Event{Kind: core.Unwant, Caller: w.id, Err: cause}})
}

// Close ends the campaign or term as the end of Run's context would, refuses later ones with ErrClosed, and returns when nothing of the
// elector is left running: the work has returned, the lease was released or has run out, and Events was told everything. The store stays open. A second call
// waits as well and returns nil. It must not be called by the leader's function or by Events, for whose end it waits.
func (e *Elector) Close() error {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		e.loop.post(posted{member: e.member, event: core.Event{Kind: core.Close}})
	}
	e.mu.Unlock()
	<-e.loop.idle()
	<-e.presence.left()
	<-e.loop.idle() // it may have said something
	<-e.loop.relay.drained()
	return nil
}
