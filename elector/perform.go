package elector

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/internal/core"
)

// perform does one action. It decides nothing: whatever comes back goes to the machine.
func (l *loop) perform(m *member, a core.Action) {
	switch a.Kind {
	case core.DoGet:
		l.call(m, a, func(ctx context.Context) core.Event {
			r, err := l.store.Get(ctx, m.cfg.Election)
			return core.Event{Kind: core.GotRecord, Record: r, Err: err}
		})
	case core.DoAcquire:
		l.call(m, a, func(ctx context.Context) core.Event {
			lease, err := l.store.Acquire(ctx, a.Claim)
			return core.Event{Kind: core.Acquired, Lease: lease, Err: err}
		})
	case core.DoRenew:
		l.call(m, a, func(ctx context.Context) core.Event {
			lease, err := l.store.Renew(ctx, a.Lease)
			return core.Event{Kind: core.Renewed, Lease: lease, Err: err}
		})
	case core.DoRelease:
		l.call(m, a, func(ctx context.Context) core.Event {
			return core.Event{Kind: core.Released, Err: l.store.Release(ctx, a.Lease, a.Handover)}
		})
	case core.DoSeal:
		l.call(m, a, func(ctx context.Context) core.Event {
			return core.Event{Kind: core.Sealed, Guard: a.Guard, Err: m.seal(ctx, a)}
		})
	case core.DoOpenWatch:
		l.watch(m, a)
	case core.DoCloseWatch:
		m.closeWatch(a.Request)
	case core.DoBelieve:
		m.believe(a.Belief)
	case core.DoBegin:
		m.begin(a)
	case core.DoEndWork:
		m.endWork(a)
	case core.DoOverrun:
		l.call(m, a, func(context.Context) core.Event {
			m.overrun(a)
			return core.Event{Kind: core.Tick}
		})
	case core.DoFinish:
		m.finish(a)
	case core.DoNotify:
		m.relay.put(Event{
			Kind: EventKind(a.Notice.Kind), Time: time.Now(), Election: m.cfg.Election,
			Token: a.Notice.Token, Holder: a.Notice.Holder, Err: a.Notice.Err,
		})
	}
}

// watch opens a watch and passes its wake-ups on until it is closed.
func (l *loop) watch(m *member, a core.Action) {
	ctx, cancel := context.WithCancel(context.Background())
	m.watches[a.Request] = cancel
	l.mu.Lock()
	l.flights++
	l.mu.Unlock()
	go func() {
		defer cancel()
		patience := time.AfterFunc(time.Duration(a.Timeout), cancel)
		changes, err := l.store.Watch(ctx, m.cfg.Election)
		if !patience.Stop() && err == nil {
			err = context.DeadlineExceeded // the watch was cancelled while it opened
		}
		l.post(posted{member: m, event: core.Event{Kind: core.WatchOpened, Request: a.Request, Err: err}})
		for open := err == nil; open; {
			select {
			case _, open = <-changes:
				if open {
					l.post(posted{member: m, event: core.Event{Kind: core.Woken, Request: a.Request}})
				}
			case <-ctx.Done(): // a store that doesn't close its channel must not keep the loop
				open = false
			}
		}
		l.post(posted{member: m, event: core.Event{Kind: core.WatchClosed, Request: a.Request}, flight: -1})
	}()
}

func (m *member) closeWatch(request uint64) {
	if cancel := m.watches[request]; cancel != nil {
		cancel()
		delete(m.watches, request)
	}
}

// seal tells one guard. A guard that doesn't obey its context is left behind.
func (m *member) seal(ctx context.Context, a core.Action) error {
	sealed := make(chan error, 1)
	go func() { sealed <- m.cfg.Guards[a.Guard].Seal(ctx, m.cfg.Election, a.Lease.Fence()) }()
	select {
	case err := <-sealed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
