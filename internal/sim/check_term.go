package sim

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure/internal/core"
)

// begins looks at the beginning of a term.
func (c *checker) begins(m *member, a *core.Action) {
	w, l := c.w, &c.ledgers[m.election]
	c.terms++
	c.order = (c.order ^ uint64(m.p.slot.number+1) ^ uint64(m.election)<<8) * 0x9e3779b97f4a7c15
	c.order ^= c.order >> 31
	w.note(m, "leads")
	if a.Lease.Token <= l.last && !w.world.breaks(I1) { // a term that begins late is in order only where terms don't overlap
		w.violate(I2, m, "leads under token %d after %d", a.Lease.Token, l.last)
	}
	l.last = a.Lease.Token
	if m.work.active && m.works() {
		w.violate(I6, m, "begins a term while the work of an earlier one goes on")
	}
	if g := l.find(a.Lease.Token); g == nil || g.attempt != a.Lease.Attempt || g.holder != m.p.id {
		w.violate(I11, m, "leads under token %d, which the store has not granted to it", a.Lease.Token)
	}
	if !m.believed(m.belief.Soft) {
		w.violate(I11, m, "leads after its deadline")
	}
	m.m.lost = false
}

// ends looks at the order to end a term's work.
func (c *checker) ends(m *member, a *core.Action) {
	if a.Term != m.work.term && m.work.active {
		c.w.violate(I6, m, "ends the work of another term")
	}
	if !errors.Is(a.Err, core.ErrResigned) {
		m.m.lost = true
	}
	if m.work.active && m.belief.Leading && m.believed(m.belief.Soft) {
		c.w.violate(I6, m, "says that it leads after its work was told to end")
	}
}

// notice looks at what logs and callbacks are told.
func (c *checker) notice(m *member, n *core.Notice) {
	w := c.w
	switch n.Kind {
	case core.NoteStarted, core.NoteStopped:
		if m.m.started == (n.Kind == core.NoteStarted) {
			w.violate(I6, m, "tells %s twice in a row", n.Kind)
		}
		m.m.started = n.Kind == core.NoteStarted
	case core.NoteLost:
		c.losses++
		w.noteLoss(m, n)
	case core.NoteCampaigning:
		m.m.searching, m.m.asked, m.m.since = true, m.p.read().Mono, w.now
	case core.NoteQuarantined:
		m.m.searching = false
	case core.NoteClockJump:
		c.jumps++
	case core.NoteLeader:
		c.leader(m, n)
	default:
	}
}

func (c *checker) leader(m *member, n *core.Notice) {
	l := &c.ledgers[m.election]
	if n.Token < m.m.leader {
		c.w.violate(I10, m, "sees the leader of token %d after that of %d", n.Token, m.m.leader)
	}
	m.m.leader = n.Token
	if n.Holder.ID == "" {
		return
	}
	if g := l.find(n.Token); g == nil || g.holder != n.Holder.ID {
		c.w.violate(I10, m, "sees %s leading under token %d, which was not granted", n.Holder.ID, n.Token)
	}
}

// finishes looks at the end of a caller's Run.
func (c *checker) finishes(m *member, a *core.Action) {
	m.m.searching = false
	m.m.gone[1]++
	c.recount(m.election)
	if !m.works() || a.Err == nil {
		return
	}
	for _, expected := range [...]error{context.Canceled, core.ErrClosed, errPanic, errWork} {
		if errors.Is(a.Err, expected) {
			return
		}
	}
	c.w.violate(I16, m, "its Run has ended with: %v", a.Err)
}
