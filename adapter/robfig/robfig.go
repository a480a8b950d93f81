// Package robfig puts an elector.Gate in front of jobs of robfig/cron (v3), so that one of several servers with the same entries runs each tick.
//
//	c := cron.New()
//	c.Schedule(spec, cron.NewChain(robfig.Wrapper(ctx, gate, nil)).Then(robfig.Work(report)))
//
// A gate stands for one job: behind one gate two jobs exclude each other, and of two that are due at once one is skipped. So make a gate, and a chain, for each job rather than one for the whole Cron.
//
// Choose GateConfig.AtLeast longer than the servers' clocks may differ: a short job would run twice in one tick otherwise. "@every" entries count from the start of each process and differ by up to their interval: for them
// AtLeast has to be nearly that.
package robfig

import (
	"context"
	"errors"
	"log/slog"

	"github.com/robfig/cron/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// Work is a job that is told when its lease is lost: its context ends, see elector.Gate.Do. It runs behind a Wrapper only.
type Work func(ctx context.Context, term *elector.Term) error

// Run implements cron.Job. It panics: nobody has asked the gate.
func (Work) Run() {
	panic("robfig: Work runs behind a gate only: make robfig.Wrapper the last wrapper of its chain")
}

// Wrapper returns a wrapper that lets a job run when gate does. Put it last in a chain: it gives a context to a Work alone. Any other job can't be told that its lease is lost, and may go on beside another server's.
//
// The context of a Work ends with ctx, too, and no job begins after that: end it when the program does, since cron has no context. The function done is told how each tick went, with an error of elector.Gate.Do; nil stands for
// a log entry at slog.Default(), at level debug where another server ran the tick.
func Wrapper(ctx context.Context, gate *elector.Gate, done func(error)) cron.JobWrapper {
	if done == nil {
		election := gate.Config().Elector.Election
		done = func(err error) { log(ctx, election, err) }
	}
	return func(job cron.Job) cron.Job {
		work, ok := job.(Work)
		if !ok {
			work = func(context.Context, *elector.Term) error {
				job.Run()
				return nil
			}
		}
		return cron.FuncJob(func() { done(gate.Do(ctx, work)) })
	}
}

func log(ctx context.Context, election string, err error) {
	level := slog.LevelError
	switch {
	case err == nil, errors.Is(err, backend.ErrHeld):
		level = slog.LevelDebug
	case errors.Is(err, elector.ErrBusy):
		level = slog.LevelWarn
	}
	slog.Default().LogAttrs(context.WithoutCancel(ctx), level, "robfig: a tick is over", slog.String("election", election), slog.Any("error", err))
}
