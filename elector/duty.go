package elector

import (
	"context"
	"fmt"
	"sync"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/joint"
)

// Duty lets code that others call, such as handlers of requests and scheduled tasks, work under the term that is led at the moment.
//
//	var duty elector.Duty
//	go e.Run(ctx, duty.Lead)
//	…
//	err := duty.Do(r.Context(), func(ctx context.Context, term *elector.Term) error { … }) // in any handler
//
// The lease is released only when all that work has returned. The zero value is ready; it is safe for concurrent use and must not be copied.
type Duty struct {
	mu   sync.Mutex
	term *Term // nil: not leading
	work sync.WaitGroup
}

// Lead is the function for Elector.Run: it opens the duty for the term's time, and returns when ctx has ended and all work has returned. It returns an error that wraps ErrBusy when
// another term's Lead is under way: a duty is for one elector.
func (d *Duty) Lead(ctx context.Context, term *Term) error {
	d.mu.Lock()
	if d.term != nil {
		d.mu.Unlock()
		return fmt.Errorf("elector: duty of %q: %w", term.Election(), ErrBusy)
	}
	d.term = term
	d.mu.Unlock()
	<-ctx.Done()
	d.mu.Lock()
	d.term = nil
	d.mu.Unlock()
	d.work.Wait()
	return ctx.Err()
}

// Term returns the term that is led at the moment, or nil.
func (d *Duty) Term() *Term {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.term == nil || d.term.Context().Err() != nil {
		return nil
	}
	return d.term
}

// Do calls work if a term is led at the moment, and returns ErrNotLeading otherwise. The context given to work ends with the term and with ctx, whichever is first; context.Cause tells which. It
// carries ctx's values and the fencing token. Do may be called many times at once.
//
// It returns work's error. Where that is context.Canceled or the cause of its context, it returns that cause. It also returns the cause when the lease was lost before work returned nil.
func (d *Duty) Do(ctx context.Context, work func(ctx context.Context, term *Term) error) error {
	if work == nil {
		return fmt.Errorf("elector: %w: Do needs a function", backend.ErrInvalid)
	}
	term := d.enter()
	if term == nil {
		return ErrNotLeading
	}
	defer d.work.Done()
	joined, end := joint.With(fence.NewContext(ctx, term.Token()), term.Context())
	defer end(context.Canceled)
	return verdict(joined, term, work(joined, term))
}

// enter counts in one more piece of work, if there is a term.
func (d *Duty) enter() *Term {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.term == nil || d.term.Context().Err() != nil {
		return nil
	}
	d.work.Add(1) // Lead waits only after it has taken the term away, under mu
	return d.term
}
