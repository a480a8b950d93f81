package core

import (
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// seal is one guard's part of the sealing.
type seal struct {
	done     bool
	request  uint64
	next     int64
	failures int
}

// startSealing tells all guards of the new term, before anything is done under it.
func (m *Machine) startSealing() {
	t := m.term
	m.setState(Sealing)
	if m.cfg.Guards == 0 {
		m.begin()
		return
	}
	m.notify(Notice{Kind: NoteSealing, Token: t.lease.Token, Holder: m.cfg.Candidate})
	t.seals = make([]seal, m.cfg.Guards)
	t.sealBy = t.anchor.Mono + int64(m.cfg.TTL)
}

func (m *Machine) advanceSeals() {
	t := m.term
	if m.now.Mono >= t.sealBy {
		m.leaveSealing(ErrUnsealed, m.cfg.TTL)
		return
	}
	for i := range t.seals {
		s := &t.seals[i]
		if s.done || s.request != 0 || m.now.Mono < s.next {
			continue
		}
		s.request = m.request(Action{Kind: DoSeal, Guard: i, Lease: t.lease}, m.cfg.AttemptTimeout)
	}
	m.advanceRenewal()
}

func (m *Machine) onSealed(e Event) {
	t := m.term
	if m.state != Sealing || e.Guard >= len(t.seals) || t.seals[e.Guard].request != e.Request {
		return
	}
	s := &t.seals[e.Guard]
	s.request = 0
	var stale *fence.StaleError
	switch {
	case e.Err == nil:
		s.done = true
	case errors.As(e.Err, &stale) && m.plausible(stale.Mark.Value): // the guard has seen a higher token than the store: outbid it
		m.floor = max(m.floor, stale.Mark.Value)
		m.notify(Notice{Kind: NoteFailed, Token: t.lease.Token, Err: e.Err})
		m.outbid(e.Err)
		return
	default:
		m.notify(Notice{Kind: NoteFailed, Token: t.lease.Token, Err: e.Err})
		s.next = m.now.Mono + int64(m.backoff(s.failures, m.cfg.RenewInterval))
		s.failures++
		t.err = fmt.Errorf("%w: %w", ErrUnsealed, e.Err)
		m.campaign.trouble = t.err
		return
	}
	for i := range t.seals {
		if !t.seals[i].done {
			return
		}
	}
	t.err = nil
	m.begin()
}

// plausible reports that a guard's mark can be outbid: no store grants a token far above all that it knows.
func (m *Machine) plausible(mark int64) bool {
	return mark < backend.MaxToken && backend.FloorInRange(mark, m.term.lease.Token, time.Unix(0, m.now.Wall))
}

// outbid campaigns again for a higher token, at once as often as there are guards with marks of their own. A guard that goes on refusing is given time, and other
// candidates theirs.
func (m *Machine) outbid(stale error) {
	m.refused++
	stay := time.Duration(0)
	if n := int(m.refused) - m.cfg.Guards; n > 0 {
		stay = m.backoff(n, m.cfg.TTL)
	}
	m.leaveSealing(fmt.Errorf("%w: %w", ErrUnsealed, stale), stay)
}

// leaveSealing gives a term back under which nothing was done, and stays away for a while.
func (m *Machine) leaveSealing(cause error, stay time.Duration) {
	t := m.term
	t.cause, t.stay, t.again = cause, stay, true
	if m.mode == Try && stay > 0 {
		t.again = false
		if t.err == nil {
			t.err = cause
		}
	}
	m.startRelease()
}

func (m *Machine) dueSeals() int64 {
	due := m.term.sealBy
	for i := range m.term.seals {
		if s := m.term.seals[i]; !s.done && s.request == 0 {
			due = min(due, s.next)
		}
	}
	return due
}
