// Package wakeup is what the watches of all stores with a server have in common: room for one wake-up, a wait until the server has confirmed that changes will be
// heard of, and an end that comes once, by the caller's context or by the store's.
package wakeup

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Watch is one Watch or Notify of a store. Its methods, but for C and Await, are called under the mutex of the hub that keeps it. So is the function of a Notify: whoever has had that mutex
// after the watch's end knows that no call comes any more.
type Watch struct {
	Topic  string          // what the hub knows the election by
	ch     chan struct{}   // of a Watch
	wake   func(open bool) // of a Notify
	ready  chan error      // nil once bound: nobody waits any more
	bound  bool
	ended  bool
	unbind func() bool // ends the tie to the caller's context
}

// New returns a watch that is neither ready nor bound.
func New(topic string) *Watch {
	return &Watch{Topic: topic, ch: make(chan struct{}, 1), ready: make(chan error, 1)}
}

// NewFunc returns a watch that calls wake in place of a channel, from Bind until its end.
func NewFunc(topic string, wake func(open bool)) *Watch {
	return &Watch{Topic: topic, wake: wake, ready: make(chan error, 1)}
}

// C is what the caller receives from.
func (w *Watch) C() <-chan struct{} { return w.ch }

// Wake leaves a wake-up, unless one is waiting already, or calls the function.
func (w *Watch) Wake() {
	if w.wake != nil {
		if w.bound {
			w.wake(true)
		}
		return
	}
	select {
	case w.ch <- struct{}{}:
	default:
	}
}

// Answer ends Await: with nil once later changes are sure to be heard of. The first answer stands.
func (w *Watch) Answer(err error) {
	select {
	case w.ready <- err:
	default:
	}
}

// Await waits for the answer, for no longer than ctx and limit; what comes later than limit is the error late.
func (w *Watch) Await(ctx context.Context, limit time.Duration, late error) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-w.ready:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return fmt.Errorf("%w within %v", late, limit)
	}
}

// Bind begins the watch. One with a channel lives as long as ctx, whose end calls end unless the watch has ended by then; one with a function lives until Unbind and End. A watch that has
// ended already is one of a closed store: backend.ErrClosed.
func (w *Watch) Bind(ctx context.Context, end func()) error {
	if w.ended {
		return backend.ErrClosed
	}
	w.bound, w.ready = true, nil
	if w.wake == nil {
		w.unbind = context.AfterFunc(ctx, end)
	}
	return nil
}

// Unbind says that the watch's own caller ends it, to whom its function need not tell that. The end by the store's close comes without it.
func (w *Watch) Unbind() { w.bound = false }

// Ended reports whether End was called.
func (w *Watch) Ended() bool { return w.ended }

// End closes the channel, or tells the function that the watch is over, unless Unbind came before. It must be called once.
func (w *Watch) End() {
	w.ended = true
	if w.unbind != nil {
		w.unbind()
	}
	switch {
	case w.ch != nil:
		close(w.ch)
	case w.bound:
		w.wake(false)
	}
}
