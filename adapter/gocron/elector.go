package gocron

import (
	"context"
	"fmt"

	"github.com/go-co-op/gocron/v2"

	"github.com/tenure-go/tenure/elector"
)

// Elector is a gocron.Elector: the leader's scheduler runs all ticks. Make one with NewElector; it is safe for concurrent use.
type Elector struct {
	elector *elector.Elector
	duty    elector.Duty
}

var _ gocron.Elector = (*Elector)(nil)

// NewElector returns an adapter for e.
func NewElector(e *elector.Elector) *Elector { return &Elector{elector: e} }

// Run takes part in the election until ctx ends, and returns as elector.Elector.Run does. Without it no job runs. When the leader steps down, the lease is released after the tasks made by Task have returned.
func (e *Elector) Run(ctx context.Context) error { return e.elector.Run(ctx, e.duty.Lead) }

// IsLeader implements gocron.Elector. It asks the clock and not the store, and returns an error that wraps elector.ErrNotLeading where a tick is not for this server.
func (e *Elector) IsLeader(context.Context) error {
	if e.duty.Term() == nil {
		return fmt.Errorf("gocron: %q: %w", e.elector.Config().Election, elector.ErrNotLeading)
	}
	return nil
}

// Task returns a function for gocron.NewTask that does work while this server leads, see elector.Duty.Do: its context ends with the term and with the job's. It returns an error that wraps elector.ErrNotLeading, and does nothing,
// where this server doesn't lead.
func (e *Elector) Task(work func(ctx context.Context, term *elector.Term) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := e.duty.Do(ctx, work); err != nil {
			return fmt.Errorf("gocron: %q: %w", e.elector.Config().Election, err)
		}
		return nil
	}
}
