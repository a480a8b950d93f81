package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// contact is a store that notes whether its server answers. It logs when that changes, not each failed attempt.
type contact struct {
	backend.LeaseStore
	log *slog.Logger

	mu      sync.Mutex
	heard   bool // the store has answered at least once
	away    time.Time
	failure error // the last call's, nil while the store answers
}

var _ backend.Unwrapper = (*contact)(nil)

// Unwrap implements backend.Unwrapper.
func (c *contact) Unwrap() backend.LeaseStore { return c.LeaseStore }

// Acquire implements backend.LeaseStore.
func (c *contact) Acquire(ctx context.Context, claim backend.Claim) (backend.Lease, error) {
	l, err := c.LeaseStore.Acquire(ctx, claim)
	return l, c.note(err)
}

// Renew implements backend.LeaseStore.
func (c *contact) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	renewed, err := c.LeaseStore.Renew(ctx, l)
	return renewed, c.note(err)
}

// Release implements backend.LeaseStore.
func (c *contact) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	return c.note(c.LeaseStore.Release(ctx, l, h))
}

// Get implements backend.LeaseStore.
func (c *contact) Get(ctx context.Context, election string) (backend.Record, error) {
	r, err := c.LeaseStore.Get(ctx, election)
	return r, c.note(err)
}

// note takes note of a call's outcome and returns it. A refusal is an answer.
func (c *contact) note(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch backend.ClassOf(err) {
	case backend.Unknown, backend.Denied:
		if c.failure == nil {
			c.away = time.Now()
			c.log.Warn("the store does not answer", slog.Any("error", err))
		}
		c.failure = err
	case backend.Closed:
	default:
		if c.failure != nil {
			c.log.Warn("the store answers again", slog.Duration("after", time.Since(c.away).Round(time.Millisecond)))
		}
		c.failure, c.heard = nil, true
	}
	return err
}

// silent reports for how long the store has not answered, and the last error; zero while it answers.
func (c *contact) silent() (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		return 0, nil
	}
	return time.Since(c.away), c.failure
}

// unheard reports that the last call failed, or that none was ever answered.
func (c *contact) unheard() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure != nil || !c.heard
}
