package sim

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/internal/core"
)

func (m *member) openWatch(a *core.Action) {
	w, s := m.p.w, m.p.slot
	m.watch, m.watching = a.Request, false
	w.check.opens(m)
	switch k, lost := m.p.losesWatch(); {
	case lost:
		w.hit(k)
		w.schedule(m.p.osc.lasts(a.Timeout), event{kind: evWatchOpened, m: m, n: a.Request, late: true})
	case s.has(WatchRefused), s.has(Refused), s.has(NoDNS), s.has(TLSFails), s.has(Denied):
		w.hit(WatchRefused)
		w.schedule(m.p.latency(), event{kind: evWatchClosed, m: m, n: a.Request})
	default:
		m.watching, m.missed = true, false
		w.schedule(2*m.p.latency(), event{kind: evWatchOpened, m: m, n: a.Request})
	}
}

func (p *process) losesWatch() (Kind, bool) {
	if k, cut := p.slot.isolated(); cut {
		return k, true
	}
	for _, k := range [...]Kind{StoreCut, HalfOpen, RequestLost, PoolExhausted} {
		if p.slot.has(k) {
			return k, true
		}
	}
	return StoreDown, p.w.server.down()
}

// watchOpened reports the watch as open, or as not opened in time.
func (m *member) watchOpened(e event) {
	ev := core.Event{Kind: core.WatchOpened, Request: e.n}
	if !m.watching || m.watch != e.n {
		ev.Err = context.DeadlineExceeded
	}
	m.step(ev)
	if ev.Err != nil {
		m.step(core.Event{Kind: core.WatchClosed, Request: e.n})
	}
}

func (m *member) closeWatch(request uint64) {
	if m.watch == request {
		m.watch, m.watching = 0, false
	}
	m.p.w.schedule(0, event{kind: evWatchClosed, m: m, n: request})
}

// drop ends the watch from the server's side.
func (m *member) drop() {
	if !m.watching {
		return
	}
	m.watching = false
	m.p.w.schedule(m.p.latency(), event{kind: evWatchClosed, m: m, n: m.watch})
}

// changed tells all watches of an election.
func (w *run) changed(election int) {
	for _, p := range w.alive {
		m := p.members[election]
		if m.watching {
			m.notify()
		}
	}
}

// notify sends one wake-up, if the network lets it. Where a connection was cut, one follows when it is back, as all stores promise (S7); a wake-up that
// is simply lost doesn't come again.
func (m *member) notify() {
	w, s := m.p.w, m.p.slot
	k, cut := s.isolated()
	for _, also := range [...]Kind{StoreCut, HalfOpen} {
		if !cut {
			k, cut = also, s.has(also)
		}
	}
	if cut {
		w.hit(k)
		m.missed = true
		return
	}
	for _, k := range [...]Kind{WakeLost, WatchDeaf} {
		if s.has(k) {
			w.hit(k)
			w.note(m, "is not told of a change")
			return
		}
	}
	d := m.p.latency()
	if s.has(WakeLate) {
		w.hit(WakeLate)
		d += m.p.net.upTo(s.arg[WakeLate])
	}
	w.schedule(d, event{kind: evWoken, m: m, n: m.watch})
	if s.has(WakeTwice) {
		w.hit(WakeTwice)
		w.schedule(d+m.p.net.upTo(int64(time.Second)), event{kind: evWoken, m: m, n: m.watch})
	}
}

// reconnected sends the wake-up that follows a cut.
func (p *process) reconnected() {
	for _, m := range p.members {
		if m.missed && m.watching {
			m.missed = false
			m.notify()
		}
	}
}
