package conformance

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/fence"
)

// brokenTerm is one term of a broken elector.
type brokenTerm struct {
	elector  *brokenElector
	lease    backend.Lease
	token    fence.Token
	ctx      context.Context //nolint:containedctx // the term's own
	end      context.CancelCauseFunc
	returned chan struct{}
	result   error
	anchor   atomic.Int64 // since start
	start    time.Time
	leading  atomic.Bool // neither resigned nor lost
	valid    atomic.Bool
	flag     atomic.Bool // for the bug that reads it
}

func (t *brokenTerm) age() time.Duration { return time.Since(t.start) - time.Duration(t.anchor.Load()) }

func (t *brokenTerm) Token() fence.Token { return t.token }

func (t *brokenTerm) Valid() bool {
	if t.elector.has("Valid is true until a renewal is refused") {
		return t.valid.Load()
	}
	return t.valid.Load() && t.age() < t.elector.hard
}

func (t *brokenTerm) Resign(context.Context) error {
	t.stepDown(elector.ErrResigned)
	return nil
}

func (t *brokenTerm) stepDown(cause error) {
	t.leading.Store(false)
	if t.elector.has("a context ends without a cause") {
		cause = nil
	}
	t.end(cause)
}

// brokenContext compares clocks, as the genuine one does.
type brokenContext struct {
	context.Context //nolint:containedctx // it is one
	term            *brokenTerm
}

func (c brokenContext) Err() error {
	if c.term.leading.Load() && c.term.age() >= c.term.elector.cancelAfter() {
		c.term.stepDown(elector.ErrDeadline)
	}
	return c.Context.Err()
}
