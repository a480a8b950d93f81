package core

import (
	"slices"

	"github.com/tenure-go/tenure/backend"
)

// orphan is a lease that nobody wants: the outcome of its Acquire is not known and was given up, or it came too late. It is released in the
// background, and named in later claims so that it doesn't stand in their way.
type orphan struct {
	lease   backend.Lease // Token 0: not known
	until   int64         // it can't live longer at the store
	request uint64
}

// mostOrphans bounds what a caller who tries all the time piles up while the store is away.
const mostOrphans = 32

func (m *Machine) orphan(l backend.Lease) {
	l.Election, l.Holder = m.election, m.cfg.Candidate.ID
	if l.TTL == 0 {
		l.TTL = m.cfg.TTL
	}
	if len(m.orphans) == mostOrphans { // the oldest costs the election a TTL at worst
		m.orphans = slices.Delete(m.orphans, 0, 1)
	}
	m.orphans = append(m.orphans, orphan{lease: l, until: m.in(l.TTL)})
}

func (m *Machine) abandoned() []backend.Attempt {
	var attempts []backend.Attempt
	for _, o := range m.orphans {
		attempts = append(attempts, o.lease.Attempt)
	}
	return attempts
}

func (m *Machine) advanceOrphans() {
	m.orphans = slices.DeleteFunc(m.orphans, func(o orphan) bool { return o.request == 0 && m.now.Mono >= o.until })
	for i := range m.orphans {
		o := &m.orphans[i]
		if o.request == 0 && m.now.Mono >= m.orphanNext {
			o.request = m.request(Action{Kind: DoRelease, Lease: o.lease}, m.cfg.AttemptTimeout)
		}
	}
}

// orphanReleased takes the reply to an orphan's release; it reports whether the reply was one.
func (m *Machine) orphanReleased(e Event) bool {
	i := slices.IndexFunc(m.orphans, func(o orphan) bool { return o.request == e.Request })
	if i < 0 {
		return false
	}
	o := &m.orphans[i]
	o.request = 0
	switch backend.ClassOf(e.Err) {
	case backend.Unknown, backend.Denied:
		m.orphanNext = m.now.Mono + int64(m.backoff(int(m.orphanFailures), m.cfg.RenewInterval))
		m.orphanFailures++
	default: // it is gone, or will never be
		m.orphanNext, m.orphanFailures = m.now.Mono, 0
		m.orphans = slices.Delete(m.orphans, i, i+1)
	}
	return true
}

func (m *Machine) dueOrphans() int64 {
	due := never
	for _, o := range m.orphans {
		if o.request == 0 {
			due = min(due, m.orphanNext, o.until)
		}
	}
	return due
}
