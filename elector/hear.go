package elector

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// ear is a watch of one election. All fields but pending belong to the loop's goroutine.
type ear struct {
	member  *member
	request uint64
	giveUp  context.CancelFunc // while it opens
	stop    func()             // once it is open
	pending atomic.Bool        // a wake-up is in the loop's queue: more of them would say no more
}

// hear passes a change on to the machine. The store calls it.
func (e *ear) hear(open bool) {
	switch {
	case !open:
		e.member.loop.post(posted{member: e.member, event: core.Event{Kind: core.WatchClosed, Request: e.request}, ended: e})
	case !e.pending.Swap(true):
		e.member.loop.post(posted{member: e.member, event: core.Event{Kind: core.Woken, Request: e.request}, heard: e})
	}
}

// openWatch opens a watch and passes its wake-ups on until it is closed.
func (l *loop) openWatch(m *member, a core.Action) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &ear{member: m, request: a.Request, giveUp: cancel}
	m.watches = append(m.watches, e)
	l.fly()
	l.looks.do(l.cfg.TTL, func(late bool) {
		var stop func()
		err := errTooBusy
		if !late {
			opening, done := context.WithTimeout(ctx, time.Duration(a.Timeout))
			stop, err = backend.Notify(opening, l.store, m.election, e.hear)
			done()
		}
		l.post(posted{member: m, event: core.Event{Kind: core.WatchOpened, Request: a.Request, Err: err}, flight: -1, opened: &opened{e, stop}})
	})
}

// opened is the reply to the opening of a watch.
type opened struct {
	ear  *ear
	stop func()
}

// settle notes that a watch is open, unless it was closed meanwhile.
func (o *opened) settle(m *member) {
	o.ear.giveUp()
	switch {
	case o.stop == nil:
		m.forget(o.ear)
	case slices.Contains(m.watches, o.ear):
		o.ear.stop, o.ear.giveUp = o.stop, nil
	default:
		o.stop()
	}
}

func (m *member) forget(e *ear) {
	m.watches = slices.DeleteFunc(m.watches, func(other *ear) bool { return other == e })
}

func (m *member) closeWatch(request uint64) {
	for _, e := range m.watches {
		if e.request != request {
			continue
		}
		m.forget(e)
		if e.stop != nil {
			e.stop()
		} else {
			e.giveUp()
		}
		return
	}
}
