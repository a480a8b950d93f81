// Package joint makes contexts that end with either of two others.
package joint

import "context"

// With returns a context for work under term: it has term's values and ends with term, with also, or by the returned function, whichever comes first; context.Cause tells which. Its
// Err asks term's Err first, which for an elector's term compares clocks: it is right from the first call after a pause. Call the function when the work is over.
func With(term, also context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(term)
	stop := context.AfterFunc(also, func() { cancel(context.Cause(also)) })
	return &joined{Context: ctx, term: term}, func(cause error) {
		stop()
		cancel(cause)
	}
}

type joined struct {
	context.Context                 //nolint:containedctx // it is one
	term            context.Context //nolint:containedctx // the one to ask first
}

// Err implements context.Context.
func (j *joined) Err() error {
	_ = j.term.Err() // ends both if the clock says so
	return j.Context.Err()
}

// Done implements context.Context.
func (j *joined) Done() <-chan struct{} {
	_ = j.Err()
	return j.Context.Done()
}
