package sim

import (
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// debts are what a member's claims may have left at the store.
type debts struct {
	unsure backend.Attempt // of the campaign that goes on: its outcome isn't known
	owed   backend.Attempt // granted, or perhaps, and of no use to anybody
	since  int64           // monotonic reading
}

func (m *member) owes(attempt backend.Attempt) {
	m.m.debts = debts{owed: attempt, since: m.p.read().Mono}
}

// claimed looks at what becomes of a claim's outcome: a lease that isn't used is given back.
func (c *checker) claimed(m *member, e *core.Event, actions []core.Action) {
	r := m.m.replying
	if e.Kind != core.Acquired || r == nil {
		return
	}
	m.m.replying = nil
	switch class := backend.ClassOf(e.Err); {
	case class == backend.OK && e.Lease.Attempt == r.claim.Attempt && !usesGrant(actions) && !returns(actions, r.claim.Attempt):
		m.owes(r.claim.Attempt)
	case usesGrant(actions):
		m.m.debts.unsure = backend.Attempt{}
	case class == backend.OK:
	case class != backend.Unknown && class != backend.Denied:
		m.paid(r.claim.Attempt) // there is nothing to give back
	case m.m.searching:
		m.m.debts.unsure = r.claim.Attempt
	}
}

func usesGrant(actions []core.Action) bool {
	for i := range actions {
		if k := actions[i].Notice.Kind; k == core.NoteSealing || k == core.NoteStarted {
			return true
		}
	}
	return false
}

func returns(actions []core.Action, attempt backend.Attempt) bool {
	for i := range actions {
		if a := &actions[i]; a.Kind == core.DoRelease && a.Lease.Attempt == attempt {
			return true
		}
	}
	return false
}

// paid takes note of a release, or of the store's word that there is nothing to release.
func (m *member) paid(attempt backend.Attempt) {
	if d := &m.m.debts; d.owed == attempt || d.unsure == attempt {
		*d = debts{}
	}
}

// collects looks, once a second, whether a lease that nobody wants was given back at least once.
func (c *checker) collects(m *member) {
	d := &m.m.debts
	if d.owed.IsZero() {
		return
	}
	since := time.Duration(m.p.read().Mono - d.since)
	if m.hindered(since) {
		d.owed = backend.Attempt{}
		return
	}
	if since > m.cfg.RenewInterval+time.Second {
		c.w.violate(I5, m, "has not given back what it doesn't want for %v", since)
	}
}
