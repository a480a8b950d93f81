// Package wakeup is what the watches of all stores with a server have in common: room for one wake-up, a wait until the server has confirmed that changes will be
// heard of, and an end that comes once, by the caller's context or by the store's.
package wakeup

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Watch is one Watch of a store. Its methods, but for C and Await, are called under the mutex of the hub that keeps it.
type Watch struct {
	Topic  string // what the hub knows the election by
	ch     chan struct{}
	ready  chan error
	ended  bool
	unbind func() bool // ends the tie to the caller's context
}

// New returns a watch that is neither ready nor bound.
func New(topic string) *Watch {
	return &Watch{Topic: topic, ch: make(chan struct{}, 1), ready: make(chan error, 1)}
}

// C is what the caller receives from.
func (w *Watch) C() <-chan struct{} { return w.ch }

// Wake leaves a wake-up, unless one is waiting already.
func (w *Watch) Wake() {
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

// Bind calls end when ctx ends, unless the watch has ended by then. A watch that has ended already is one of a closed store: backend.ErrClosed.
func (w *Watch) Bind(ctx context.Context, end func()) error {
	if w.ended {
		return backend.ErrClosed
	}
	w.unbind = context.AfterFunc(ctx, end)
	return nil
}

// Ended reports whether End was called.
func (w *Watch) Ended() bool { return w.ended }

// End closes the channel. It must be called once.
func (w *Watch) End() {
	w.ended = true
	if w.unbind != nil {
		w.unbind()
	}
	close(w.ch)
}
