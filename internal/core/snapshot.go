package core

import (
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Viewer is told what a machine's future depends on, in an order of its own, so that two machines which will behave alike look alike. It decides what times, tokens and numbers
// of requests are relative to.
type Viewer interface {
	Number(n int64)
	Due(mono int64)                         // a time that is waited for; all times that are over are alike
	Since(mono int64, enough time.Duration) // a time that was; beyond enough all are alike
	Token(token int64)                      // only its order among tokens matters
	Attempt(attempt backend.Attempt)        // only whether it is the same as another matters
	Request(number uint64)                  // as with attempts; zero: none
	Candidate(id string)                    // empty: nobody
}

// Clone returns a machine of its own in the same state. m must come from New.
func (m *Machine) Clone() *Machine {
	c := &struct {
		shared   Shared
		machine  Machine
		campaign campaign
		term     term
	}{shared: *m.Shared, machine: *m} // one piece of memory: explorers make millions
	c.shared.out = nil
	c.machine.Shared = &c.shared
	c.machine.campaign, c.machine.term = &c.shared.noCampaign, &c.shared.noTerm
	if m.campaign != &m.noCampaign {
		c.campaign = *m.campaign
		c.machine.campaign = &c.campaign
	}
	if m.term != &m.noTerm {
		c.term = *m.term
		c.term.seals = slices.Clone(m.term.seals)
		c.machine.term = &c.term
	}
	c.machine.orphans = slices.Clone(m.orphans)
	return &c.machine
}

// Snapshot tells v all that the machine's future depends on. What it leaves out is read in no state that can be reached from here before it is written. How many failures
// there were in a row is left out where it only lengthens a wait that is drawn.
func (m *Machine) Snapshot(v Viewer) {
	v.Number(int64(m.state) | int64(m.mode)<<8)
	v.Number(bits(m.closed, m.permit, m.waits))
	if m.cfg.Spread > 0 {
		v.Number(int64(m.rivals))
	}
	if m.cfg.Guards > 0 {
		v.Number(int64(m.refused))
	}
	v.Token(m.floor)
	v.Token(m.counter)
	v.Due(m.barred)
	v.Number(int64(m.lastHard))
	if m.lastHard > 0 {
		v.Since(m.lastAnchor.Mono, m.lastHard)
	}
	v.Candidate(m.leader.id)
	v.Token(m.leader.token)
	v.Number(int64(m.leader.ttl))
	m.viewCampaign(v)
	if m.term != &m.noTerm {
		m.viewTerm(v)
	}
	m.viewWatch(v)
	v.Due(m.orphanNext)
	v.Number(int64(len(m.orphans)))
	for _, o := range m.orphans {
		viewLease(v, o.lease)
		v.Due(o.until)
		v.Request(o.request)
	}
}

// viewCampaign leaves out what startCampaign sets, unless a campaign is under way.
func (m *Machine) viewCampaign(v Viewer) {
	c := m.campaign
	v.Request(c.request)
	v.Number(bits(c.asked))
	if c.request != 0 {
		v.Attempt(c.flight)
	}
	if m.state == Campaigning || m.state == Quarantined {
		v.Due(c.next)
	}
	if m.state != Campaigning {
		return
	}
	v.Attempt(c.attempt)
	v.Number(bits(c.unsure, c.seen.Known, c.woken, c.called, c.kept, c.failures > 0))
	v.Token(c.seen.Counter)
	v.Number(int64(min(c.futile, Patience)))
	v.Due(c.watchBy)
	if c.kept {
		v.Since(c.keptSince, m.cfg.TTL)
	}
	if m.mode == Try {
		v.Token(c.watched.token)
		v.Number(c.watched.renewals)
		v.Due(c.watchedBy)
	}
}

func (m *Machine) viewTerm(v Viewer) {
	t := m.term
	v.Number(int64(m.terms - t.id))
	viewLease(v, t.lease)
	v.Since(t.anchor.Mono, max(t.hard, t.lease.TTL))
	v.Number(int64(t.soft))
	v.Number(int64(t.hard))
	v.Request(t.renewal)
	v.Number(bits(t.denied, t.working, t.cause != nil, t.gone, t.stop != nil, t.again, t.err != nil))
	v.Number(int64(t.stay))
	v.Candidate(t.successor)
	v.Number(int64(t.reserve))
	v.Due(t.keepUntil)
	switch m.state {
	case Draining:
		v.Due(t.drainBy)
		fallthrough
	case Sealing, Leading:
		v.Due(t.renewAt)
		v.Number(bits(t.failures > 0))
	case Releasing:
		v.Request(t.release)
		v.Due(t.releaseAt)
	default:
	}
	if m.state != Sealing {
		return
	}
	v.Due(t.sealBy)
	for _, s := range t.seals {
		v.Number(bits(s.done))
		v.Request(s.request)
		v.Due(s.next)
	}
}

// viewWatch leaves out since when the watch is open: only how long a wait becomes depends on it.
func (m *Machine) viewWatch(v Viewer) {
	w := &m.watch
	v.Number(int64(w.state))
	v.Request(w.request)
	v.Number(bits(w.failures > 0))
	if w.state == watchClosed {
		v.Due(w.next)
	}
}

func viewLease(v Viewer, l backend.Lease) {
	v.Token(l.Token)
	v.Attempt(l.Attempt)
	v.Number(int64(l.TTL))
}

func bits(flags ...bool) (n int64) {
	for i, set := range flags {
		if set {
			n |= 1 << i
		}
	}
	return n
}
