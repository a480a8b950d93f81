package roster

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Memory is what one candidate remembers of the others, so that one which can't hold the election isn't given it again and again: whoever left a reservation unused or led for less than Least
// is barred for Cooldown. A restarted process is another candidate with, usually, the same description, so that is barred too. The zero value bars nobody.
type Memory struct {
	Least, Cooldown time.Duration

	leader   backend.Candidate
	since    time.Time // when the leader was first seen; zero: it led before anybody looked
	looked   bool
	reserved *backend.Candidate // it may come

	ids    map[string]time.Time // until when they are barred
	likely map[backend.Description]time.Time
}

// Saw notes who leads, or with the zero Candidate that nobody does.
func (m *Memory) Saw(leader backend.Candidate, now time.Time) {
	if leader.ID == m.leader.ID && m.looked {
		return
	}
	if m.leader.ID != "" && !m.since.IsZero() && now.Sub(m.since) < m.Least {
		m.bar(m.leader, now)
	}
	if m.reserved != nil && leader.ID != "" {
		if leader.ID != m.reserved.ID {
			m.bar(*m.reserved, now)
		}
		m.reserved = nil
	}
	m.leader, m.since = leader, time.Time{}
	if m.looked {
		m.since = now
	}
	m.looked = true
}

// Reserved notes that the election was reserved for a candidate, or with nil that it was not. Whether the candidate comes is told by the next leader.
func (m *Memory) Reserved(c *backend.Candidate) { m.reserved = c }

// Barred reports that a candidate may not take the election from another.
func (m *Memory) Barred(c backend.Candidate, now time.Time) bool {
	return now.Before(m.ids[c.ID]) || now.Before(m.likely[c.Description])
}

func (m *Memory) bar(c backend.Candidate, now time.Time) {
	if m.ids == nil {
		m.ids, m.likely = map[string]time.Time{}, map[backend.Description]time.Time{}
	}
	m.forget(now)
	until := now.Add(m.Cooldown)
	m.ids[c.ID] = until
	if c.Description != (backend.Description{}) {
		m.likely[c.Description] = until
	}
}

// forget keeps the memory small over many candidates.
func (m *Memory) forget(now time.Time) {
	for id, until := range m.ids {
		if !now.Before(until) {
			delete(m.ids, id)
		}
	}
	for d, until := range m.likely {
		if !now.Before(until) {
			delete(m.likely, d)
		}
	}
}
