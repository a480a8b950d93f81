package core

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

// startRelease gives the lease back, unless the store said already that it is gone.
func (m *Machine) startRelease() {
	m.setState(Releasing)
	m.term.releaseAt = m.now.Mono
	if m.term.gone {
		m.conclude()
	}
}

func (m *Machine) advanceRelease() {
	t := m.term
	if t.release != 0 || m.now.Mono < t.releaseAt {
		return
	}
	m.lastHard = 0 // from here on another may be granted the election
	t.release = m.request(Action{Kind: DoRelease, Lease: t.lease, Handover: m.handover()}, m.cfg.AttemptTimeout)
}

// handover is what becomes of the election. A release that comes late keeps it for what is left, and a successor gets its time from the release on.
func (m *Machine) handover() backend.Handover {
	t := m.term
	if t.successor != "" {
		return backend.Handover{To: t.successor, For: t.reserve}
	}
	return backend.Handover{For: time.Duration(max(0, t.keepUntil-m.now.Mono))}
}

func (m *Machine) onReleased(e Event) {
	if m.orphanReleased(e) {
		return
	}
	t := m.term
	if m.state != Releasing || t.release == 0 || e.Request != t.release {
		return
	}
	t.release = 0
	switch backend.ClassOf(e.Err) {
	case backend.Unknown, backend.Denied:
		m.notify(Notice{Kind: NoteFailed, Token: t.lease.Token, Err: e.Err})
		if m.elapsed() < t.lease.TTL {
			t.releaseAt = m.now.Mono + int64(m.backoff(t.releases, m.cfg.RenewInterval))
			t.releases++
			return
		}
		// It has run out by itself.
	default: // released, or not held: both are what was wanted
	}
	m.conclude()
}
