// Package joint makes contexts that end with either of two others.
package joint

import "context"

// With returns a context for work: it is derived from ctx, and ends with term too, or by the returned function, whichever comes first; context.Cause tells which. Its Err asks term's
// Err first, which for an elector's term compares clocks: it is right from the first call after a pause. Call the function when the work is over.
func With(ctx, term context.Context) (context.Context, context.CancelCauseFunc) {
	inner, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(term, func() { cancel(context.Cause(term)) })
	return &joined{Context: inner, term: term, cancel: cancel}, func(cause error) {
		stop()
		cancel(cause)
	}
}

type joined struct {
	context.Context                 //nolint:containedctx // it is one
	term            context.Context //nolint:containedctx // the one to ask first
	cancel          context.CancelCauseFunc
}

// Err implements context.Context.
func (j *joined) Err() error {
	if j.term.Err() != nil {
		j.cancel(context.Cause(j.term))
	}
	return j.Context.Err()
}

// Done implements context.Context.
func (j *joined) Done() <-chan struct{} {
	_ = j.Err()
	return j.Context.Done()
}
