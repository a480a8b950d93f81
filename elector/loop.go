package elector

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// watchful is how often a loop looks at the clocks while a term runs. Go's timers stand still in a suspend, so after one they are late by its length.
const watchful = 250 * time.Millisecond

// loop is the shell around the machines of one process: one goroutine that feeds them events and does what they say. It holds no opinion on leases. The
// goroutine lives while a machine has something to do.
type loop struct {
	store  backend.LeaseStore
	clock  *clock.Source
	record func(*member, core.Input, []core.Action) // for tests: everything that goes in and comes out

	mu      sync.Mutex
	queue   []posted
	flights int           // requests and watches under way
	stopped chan struct{} // closed when the goroutine has ended; nil while there is none
	wake    chan struct{}

	members []*member // owned by the goroutine while it runs
}

type posted struct {
	member *member
	event  core.Event
	waiter *waiter // who asks, with Want
	flight int     // change of the number of flights
}

func newLoop(store backend.LeaseStore, source *clock.Source) *loop {
	return &loop{store: store, clock: source, wake: make(chan struct{}, 1)}
}

// post hands an event to the loop. It never blocks.
func (l *loop) post(p posted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, p)
	if l.stopped == nil {
		l.stopped = make(chan struct{})
		go l.run(l.stopped)
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// idle returns a channel that is closed when the loop has nothing left to do.
func (l *loop) idle() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped != nil {
		return l.stopped
	}
	done := make(chan struct{})
	close(done)
	return done
}

func (l *loop) run(stopped chan struct{}) {
	defer close(stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for _, p := range l.take() {
			if p.waiter != nil {
				p.member.waiters[p.waiter.id] = p.waiter
			}
			l.step(p.member, p.event)
		}
		wait := l.tick()
		if l.over() {
			return
		}
		timer.Reset(wait)
		select {
		case <-l.wake:
		case <-timer.C:
		}
	}
}

// take empties the queue.
func (l *loop) take() []posted {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.queue
	l.queue = nil
	for _, p := range batch {
		l.flights += p.flight
	}
	return batch
}

// over reports, and settles, that the loop is at its end: there is nothing to do and nothing under way.
func (l *loop) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 || l.flights > 0 {
		return false
	}
	for _, m := range l.members {
		if !m.machine.Idle() {
			return false
		}
	}
	l.stopped = nil
	return true
}

// tick gives every machine whose time has come a tick, and returns how long the loop may sleep.
func (l *loop) tick() time.Duration {
	wait := int64(time.Hour)
	for _, m := range l.members {
		now, _ := l.clock.Sample()
		due, ok := m.machine.Due()
		if ok && due <= now {
			l.step(m, core.Event{Kind: core.Tick})
			due, ok = m.machine.Due()
		}
		if ok {
			wait = min(wait, max(due-now, 0))
		}
		if m.belief.Load() != nil {
			wait = min(wait, int64(watchful))
			if l.clock.Read().Mono-m.looked >= int64(watchful) {
				l.step(m, core.Event{Kind: core.Tick})
			}
		}
	}
	return time.Duration(wait)
}

func (l *loop) step(m *member, e core.Event) {
	in := core.Input{Now: l.clock.Read(), Rand: [2]uint64{rand.Uint64(), rand.Uint64()}, Event: e}
	m.looked = in.Now.Mono
	actions := m.machine.Step(in)
	if l.record != nil {
		l.record(m, in, actions)
	}
	for _, a := range actions {
		l.perform(m, a)
	}
}

// call runs f on a goroutine of its own and posts what it returns. The clocks are read before f, so that a deadline is counted from before its request.
func (l *loop) call(m *member, a core.Action, f func(ctx context.Context) core.Event) {
	l.mu.Lock()
	l.flights++
	l.mu.Unlock()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(a.Timeout))
		defer cancel()
		sent := l.clock.Read()
		e := f(ctx)
		e.Request, e.Sent = a.Request, sent
		l.post(posted{member: m, event: e, flight: -1})
	}()
}
