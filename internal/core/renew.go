package core

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// shortestAttempt is the least time that it makes sense to give a request.
const shortestAttempt = time.Millisecond

// advanceRenewal sends a renewal when it is time; one at a time.
func (m *Machine) advanceRenewal() {
	t := m.term
	if t.renewal != 0 || m.now.Mono < t.renewAt {
		return
	}
	timeout := min(m.cfg.AttemptTimeout, (t.soft-m.elapsed())/2)
	if timeout < shortestAttempt {
		t.renewAt = never // the deadline comes first
		return
	}
	l := t.lease
	l.TTL = m.cfg.TTL
	t.renewal = m.request(Action{Kind: DoRenew, Lease: l}, timeout)
}

// onBeat renews a little early, so that the renewals of all elections of a loop fall together. Once they have, all are due at the same time.
func (m *Machine) onBeat() {
	switch t := m.term; m.state {
	case Sealing, Leading, Draining:
		if t.renewal == 0 && t.renewAt-m.now.Mono <= int64(m.cfg.RenewInterval/2) {
			t.renewAt = min(t.renewAt, m.now.Mono)
		}
	default:
	}
}

func (m *Machine) dueRenewal() int64 {
	if m.term.renewal != 0 {
		return never
	}
	return m.term.renewAt
}

func (m *Machine) onRenewed(e Event) {
	t := m.term
	if t.renewal == 0 || e.Request != t.renewal {
		return
	}
	t.renewal = 0
	switch m.state {
	case Sealing, Leading, Draining:
	default: // the term ended while the renewal was under way
		if backend.ClassOf(e.Err) == backend.NotHeld {
			t.gone = true
			m.believe()
		}
		return
	}
	switch backend.ClassOf(e.Err) {
	case backend.OK:
		m.renewed(e)
	case backend.NotHeld, backend.Moved:
		t.gone = true
		m.renewalRefused(fmt.Errorf("%w: %w", ErrLost, e.Err))
	case backend.Closed:
		m.renewalRefused(fmt.Errorf("%w: %w", ErrClosed, e.Err))
	default:
		m.renewalFailed(e.Err)
	}
}

func (m *Machine) renewed(e Event) {
	t := m.term
	if e.Lease.Election != t.lease.Election || e.Lease.Token != t.lease.Token || e.Lease.Attempt != t.lease.Attempt || e.Lease.Holder != t.lease.Holder || e.Lease.AnchorAge < 0 {
		m.renewalFailed(fmt.Errorf("elector: the store renewed token %d when asked for token %d", e.Lease.Token, t.lease.Token))
		return
	}
	t.lease = e.Lease
	t.renewAt = e.Sent.Mono + int64(m.cfg.RenewInterval)
	t.failures, t.denied = 0, false
	anchor := e.Sent.Earlier(e.Lease.AnchorAge)
	soft, hard := m.cfg.Margins.Deadlines(min(m.cfg.TTL, e.Lease.TTL))
	if soft-clock.Elapsed(anchor, m.now) <= t.soft-m.elapsed() {
		return // it moved nothing forward
	}
	t.anchor, t.soft, t.hard = anchor, soft, hard
	m.lastAnchor, m.lastHard = anchor, hard
	if t.working {
		m.crashes = 0
		m.believe()
		m.notify(Notice{Kind: NoteRenewed, Token: t.lease.Token})
	}
}

// renewalRefused ends a term whose lease can't be renewed ever again.
func (m *Machine) renewalRefused(cause error) {
	switch m.state {
	case Sealing:
		m.leaveSealing(cause, 0)
	case Leading:
		m.lose(cause)
	case Draining:
		m.setState(Lost)
		m.believe()
	}
}

// renewalFailed tries again, at once the first time, until the deadline. An error that leaves open what happened changes nothing else.
func (m *Machine) renewalFailed(err error) {
	t := m.term
	if t.failures == 0 {
		m.notify(Notice{Kind: NoteSuspect, Token: t.lease.Token, Err: err})
	} else {
		m.notify(Notice{Kind: NoteFailed, Token: t.lease.Token, Err: err})
	}
	t.denied = t.denied || backend.ClassOf(err) == backend.Denied // a later time-out says less
	t.renewAt = m.now.Mono
	if t.failures > 0 {
		t.renewAt += int64(m.backoff(t.failures, m.cfg.RenewInterval/2))
	}
	t.failures++
}
