package elector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/core"
)

// Term is one leadership: from the election, under one token, to its end. It is safe for concurrent use.
type Term struct {
	id     uint64
	member *member
	token  fence.Token
	waiter *waiter

	held bool // without a function: its end is the end of its work

	mu       sync.Mutex
	ctx      *termContext // nil until somebody asks for it
	cause    error        // why the term has ended
	parting  parting
	resigned bool             // the user wants no further term, though it may have made room before
	handover backend.Handover // of a term that made room
}

// Context returns the context of the term's work. It ends when the term does, StepDownMargin before the lease could go to another at the latest;
// context.Cause tells why: ErrResigned, ErrLost, ErrDeadline, ErrDenied or ErrClosed. It carries the fencing token, see fence.FromContext, and the
// values of the context that was given to Run or Campaign, but not its end.
//
// Its Err compares clocks: after a pause of any length it is right from the first call.
func (t *Term) Context() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil {
		ctx, cancel := context.WithCancelCause(fence.NewContext(context.WithoutCancel(t.waiter.values), t.token))
		t.ctx = &termContext{Context: ctx, cancel: cancel, term: t}
		if t.cause != nil {
			cancel(t.cause)
		}
	}
	return t.ctx
}

// end ends the term's context.
func (t *Term) end(cause error) {
	if t.held {
		t.returned(nil)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cause = cause
	if t.ctx != nil {
		t.ctx.cancel(cause)
	}
}

// returned says that the term's work is over.
func (t *Term) returned(err error) {
	t.part(backend.Handover{})
	if t.toldToEnd(err) {
		err = nil // it did
	}
	t.post(core.Event{Kind: core.WorkReturned, Err: err})
}

// leading reports that new work may be begun.
func (t *Term) leading() bool {
	b := t.belief()
	return b != nil && b.Leading && t.until(b, b.Soft) > 0
}

// toldToEnd reports that the term has been ended by a decision, of which an error of its work may tell.
func (t *Term) toldToEnd(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	cause := t.cause
	if cause == nil && t.ctx != nil {
		cause = context.Cause(t.ctx.Context)
	}
	return cause != nil && (errors.Is(err, context.Canceled) || errors.Is(err, cause))
}

// Token returns the term's fencing token.
func (t *Term) Token() fence.Token { return t.token }

// Election returns the election's name.
func (t *Term) Election() string { return t.member.election }

// Valid reports whether the lease can still be believed in. It stays true while a leader that steps down finishes its work. It compares clocks, so after
// a pause of any length it is right from the first call; what happens between the call and a write, only a guard can tell.
func (t *Term) Valid() bool { return t.Remaining() > 0 }

// Remaining is for how long, counted from before the call, the lease can be believed in if no renewal follows; zero or less when it can't.
func (t *Term) Remaining() time.Duration {
	b := t.belief()
	if b == nil {
		return 0
	}
	return t.until(b, b.Hard)
}

// CancelIn is for how long, counted from before the call, the term's work may go on if no renewal follows: Remaining less StepDownMargin.
func (t *Term) CancelIn() time.Duration {
	b := t.belief()
	if b == nil {
		return 0
	}
	return t.until(b, b.Soft)
}

func (t *Term) until(b *core.Belief, deadline int64) time.Duration {
	l := t.member.loop
	return time.Duration(deadline) - l.clock.Since(b.Anchor, l.cfg.SafetyMargin)
}

func (t *Term) belief() *core.Belief {
	if b := t.member.belief.Load(); b != nil && b.Term == t.id {
		return b
	}
	return nil
}

// Resign ends the term on purpose; a second call, or one after the term has ended, does no harm.
//
// In a function given to Run it cancels the term's context and returns; the lease is released when the function has returned. On a term
// of Campaign it also says that the work is over, so call it when that is true, also after the term was lost: it waits until the lease
// is released, or ctx ends, and returns ctx's cause then.
func (t *Term) Resign(ctx context.Context) error { return t.leave(ctx, backend.Handover{}) }

// HandOver is Resign with a say in what becomes of the election. With h.To set, only that candidate can be elected for h.For after the release; zero stands for the time of two slow requests. Nobody is made
// leader without a claim of its own: if the candidate doesn't come, the election is free after that time. With an empty h.To nobody can be elected until h.For has passed since this call, so that a short piece of
// work holds its election for a least time. h.For is cut to the lease's TTL. It returns an error that wraps backend.ErrInvalid when h makes no sense, and the term goes on then.
func (t *Term) HandOver(ctx context.Context, h backend.Handover) error {
	cfg := t.member.loop.cfg
	if h.To != "" {
		if err := backend.CheckName("successor", h.To); err != nil {
			return fmt.Errorf("elector: hand over %q: %w", t.Election(), err)
		}
		if h.To == cfg.Candidate.ID {
			return fmt.Errorf("elector: hand over %q: %w: the successor is this candidate itself", t.Election(), backend.ErrInvalid)
		}
		if h.For == 0 {
			h.For = cfg.reservation()
		}
	}
	if h.For <= 0 {
		return fmt.Errorf("elector: hand over %q: %w: a reservation of %v for %q; it must be for more than zero", t.Election(), backend.ErrInvalid, h.For, h.To)
	}
	h.For = min(h.For, cfg.TTL)
	return t.leave(ctx, h)
}

func (t *Term) leave(ctx context.Context, h backend.Handover) error {
	h = t.part(h)
	t.mu.Lock()
	t.resigned = true
	t.mu.Unlock()
	t.post(core.Event{Kind: core.Resign, Handover: h})
	if t.waiter.run {
		return nil
	}
	select {
	case <-t.waiter.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *Term) resign() { t.post(core.Event{Kind: core.Resign}) }

func (t *Term) post(e core.Event) {
	e.Term = t.id
	t.member.loop.post(posted{member: t.member, event: e})
}

// termContext is a context which knows by the clock that it has ended, also while the process has not run since.
type termContext struct {
	context.Context //nolint:containedctx // it is one
	cancel          context.CancelCauseFunc
	term            *Term
}

// Err implements context.Context.
func (c *termContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	// Without a belief the term has been ended, and its cause is on its way.
	if b := c.term.belief(); b != nil && c.term.until(b, b.Soft) <= 0 {
		c.cancel(ErrDeadline)
		c.term.post(core.Event{Kind: core.Overdue}) // the loop's look at the clocks may differ
	}
	return c.Context.Err()
}

// Done implements context.Context.
func (c *termContext) Done() <-chan struct{} {
	_ = c.Err()
	return c.Context.Done()
}
