package elector

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

const (
	// watchful is how often a loop looks at the clocks while a term runs. Go's timers stand still in a suspend, so after one they are late by its length.
	watchful = 250 * time.Millisecond
	// hop is by how much clocks may disagree before all machines are told: less than any margin.
	hop = 5 * time.Millisecond
)

// loop is the shell around the machines of one process: one goroutine that feeds them events and does what they say. It holds no opinion on leases. The
// goroutine lives while a machine has something to do.
type loop struct {
	cfg    Config // its Election is not looked at
	store  backend.LeaseStore
	clock  *clock.Source
	shared *core.Shared
	relay  *relay
	sense  func(core.Notice)                        // hears each transition at once; it must not block
	record func(*member, core.Input, []core.Action) // for tests: everything that goes in and comes out

	looks, releases, seals, overruns lane

	wakesAt atomic.Int64 // on the monotonic clock, when the goroutine means to wake up; zero: not known

	mu      sync.Mutex
	queue   []posted
	flights int           // requests under way
	stopped chan struct{} // closed when the goroutine has ended; nil while there is none
	wake    chan struct{}

	// The rest is the goroutine's own.
	dues      dues
	busy      []*member // whose machines aren't idle
	ready     []*member
	believers int
	renewals  []renewal
	beaten    int64         // when all were last asked to renew together
	looked    clock.Reading // when all were last told how late it is
}

type posted struct {
	member *member
	event  core.Event
	waiter *waiter // who asks, with Want
	opened *opened // with WatchOpened
	heard  *ear    // with Woken
	ended  *ear    // with WatchClosed
	flight int     // change of the number of flights
	bounds *bounds // without a member
}

func newLoop(cfg Config, source *clock.Source) *loop {
	return &loop{
		cfg: cfg, store: cfg.Store, clock: source, wake: make(chan struct{}, 1), relay: &relay{deliver: cfg.deliver},
		shared: core.Share(core.Config{
			Candidate: cfg.Candidate, TTL: cfg.TTL, RenewInterval: cfg.RenewInterval,
			AttemptTimeout: cfg.AttemptTimeout, DrainTimeout: cfg.DrainTimeout, Cooldown: cfg.Cooldown,
			Spread: spread, Margins: cfg.margins(), Guards: len(cfg.Guards),
		}),
	}
}

// post hands events to the loop. It never blocks.
func (l *loop) post(p ...posted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, p...)
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

// fly counts a request whose reply will be posted with a flight of -1: the loop waits for it.
func (l *loop) fly() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flights++
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
			l.accept(p)
		}
		l.tick()
		l.permit()
		l.flush()
		if l.over() {
			return
		}
		wait := l.wait()
		mono, _ := l.clock.Sample()
		l.wakesAt.Store(max(1, mono+int64(wait)))
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

func (l *loop) accept(p posted) {
	m := p.member
	switch {
	case p.bounds != nil:
		l.shared.Bound(p.bounds.most, p.bounds.target)
		return
	case p.waiter != nil:
		m.waiters = append(m.waiters, p.waiter)
	case p.opened != nil:
		p.opened.settle(m)
	case p.heard != nil:
		p.heard.pending.Store(false)
	case p.ended != nil:
		m.forget(p.ended)
	}
	l.step(m, p.event)
}

// over reports, and settles, that the loop is at its end: there is nothing to do and nothing under way.
func (l *loop) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 || l.flights > 0 || len(l.busy) > 0 {
		return false
	}
	l.stopped = nil
	l.wakesAt.Store(0)
	return true
}

// tick gives every machine whose time has come a tick, and all that have a term when the clocks disagree on what the time is.
func (l *loop) tick() {
	now := l.clock.Read()
	l.ready = l.dues.pop(now.Mono, l.ready[:0])
	if apart(l.looked, now) > hop {
		l.looked = now
		for _, m := range l.busy {
			if m.duePlace >= 0 && m.belief.Load() != nil {
				l.ready = append(l.ready, m)
			}
		}
	}
	for _, m := range l.ready {
		l.step(m, core.Event{Kind: core.Tick})
	}
	clear(l.ready)
}

// apart is by how much the clocks disagree on the time between two readings.
func apart(from, to clock.Reading) time.Duration {
	jump := clock.Jump(from, to)
	slept := clock.Elapsed(from, to) - time.Duration(to.Mono-from.Mono)
	return max(jump, -jump, slept)
}

// wait is how long the loop may sleep.
func (l *loop) wait() time.Duration {
	wait := time.Hour
	if due, ok := l.dues.next(); ok {
		mono, _ := l.clock.Sample()
		wait = min(wait, time.Duration(max(0, due-mono)))
	}
	if l.believers > 0 {
		wait = min(wait, watchful)
	}
	return wait
}

func (l *loop) step(m *member, e core.Event) {
	in := core.Input{Now: l.clock.Read(), Rand: [2]uint64{rand.Uint64(), rand.Uint64()}, Event: e}
	actions := m.machine.Step(in)
	if l.record != nil {
		l.record(m, in, actions)
	}
	for _, a := range actions {
		l.perform(m, a)
	}
	m.state.Store(uint32(m.machine.State()))
	due, ok := m.machine.Due()
	l.dues.set(m, due, ok)
	l.note(m, !m.machine.Idle())
}

// note keeps the list of busy members.
func (l *loop) note(m *member, busy bool) {
	switch last := len(l.busy) - 1; {
	case busy && m.busyPlace < 0:
		m.busyPlace = int32(last + 1)
		l.busy = append(l.busy, m)
	case !busy && m.busyPlace >= 0:
		moved := l.busy[last]
		l.busy[m.busyPlace], moved.busyPlace = moved, m.busyPlace
		l.busy[last] = nil
		l.busy = l.busy[:last]
		m.busyPlace = -1
	}
}

// settle gives requests that were under way at the end of Run a moment to come back, so that they leave nothing at the store.
func (l *loop) settle() {
	patience := time.NewTimer(l.cfg.AttemptTimeout)
	defer patience.Stop()
	select {
	case <-l.idle():
	case <-patience.C:
		return
	}
	select {
	case <-l.relay.drained():
	case <-patience.C:
	}
}

// tell passes an event on, if anybody wants it.
func (l *loop) tell(e Event) {
	if l.cfg.wants(e.Kind) {
		l.relay.put(e)
	}
}
