package elector

import (
	"context"
	"errors"
	"time"

	"github.com/tenure-go/tenure/internal/core"
)

// errTooBusy says that a request was not sent: so many others were under way.
var errTooBusy = errors.New("elector: the request was not sent: too many others are under way")

// perform does one action. It decides nothing: whatever comes back goes to the machine.
func (l *loop) perform(m *member, a core.Action) {
	switch a.Kind {
	case core.DoGet, core.DoAcquire:
		l.call(&l.looks, m, a)
	case core.DoRelease:
		l.call(&l.releases, m, a)
	case core.DoSeal:
		l.call(&l.seals, m, a)
	case core.DoOverrun:
		l.call(&l.overruns, m, a)
	case core.DoRenew:
		l.renewals = append(l.renewals, renewal{m, a.Request, a.Timeout, a.Lease})
	case core.DoOpenWatch:
		l.openWatch(m, a)
	case core.DoCloseWatch:
		m.closeWatch(a.Request)
	case core.DoBelieve:
		m.believe(a.Belief)
	case core.DoBegin:
		m.begin(a)
	case core.DoEndWork:
		m.term.end(a.Err)
	case core.DoFinish:
		m.finish(a)
	case core.DoNotify:
		if l.sense != nil {
			l.sense(a.Notice)
		}
		l.tell(Event{
			Kind: EventKind(a.Notice.Kind), Time: time.Now(), Election: m.election,
			Token: a.Notice.Token, Holder: a.Notice.Holder, Err: a.Notice.Err,
		})
	}
}

// call sends a request and posts the reply. The clocks are read before, so that a deadline is counted from before its request.
func (l *loop) call(on *lane, m *member, a core.Action) {
	l.fly()
	on.do(l.cfg.TTL, func(late bool) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(a.Timeout))
		defer cancel()
		sent := l.clock.Read()
		e := l.ask(ctx, m, a, late)
		e.Request, e.Sent = a.Request, sent
		l.post(posted{member: m, event: e, flight: -1})
	})
}

// ask sends a request, or when it is too late for that, says so.
func (l *loop) ask(ctx context.Context, m *member, a core.Action, late bool) (e core.Event) { //nolint:revive // late: an outcome, no choice
	e.Err = errTooBusy
	switch a.Kind {
	case core.DoGet:
		e.Kind = core.GotRecord
		if !late {
			e.Record, e.Err = l.store.Get(ctx, m.election)
		}
	case core.DoAcquire:
		e.Kind = core.Acquired
		if !late {
			e.Lease, e.Err = l.store.Acquire(ctx, a.Claim)
		}
	case core.DoRelease:
		e.Kind = core.Released
		if !late {
			e.Err = l.store.Release(ctx, a.Lease, a.Handover)
		}
	case core.DoSeal:
		e.Kind, e.Guard = core.Sealed, a.Guard
		if !late {
			e.Err = l.seal(ctx, m, a)
		}
	default: // an overrun is told however late
		e = core.Event{Kind: core.Tick}
		m.overrun(a)
	}
	return e
}

// seal tells one guard. A guard that doesn't obey its context is left behind.
func (l *loop) seal(ctx context.Context, m *member, a core.Action) error {
	sealed := make(chan error, 1)
	go func() { sealed <- l.cfg.Guards[a.Guard].Seal(ctx, m.election, a.Lease.Fence()) }()
	select {
	case err := <-sealed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
