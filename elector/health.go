package elector

import (
	"time"

	"github.com/tenure-go/tenure/internal/core"
)

// Health is how an elector is, whoever leads.
type Health struct {
	// State is where it stands: following, campaigning, sealing, leading, draining, lost, overrun, releasing or quarantined. It is for people; Leading and Term.Valid compare clocks, this does not.
	State string
	// Late is for how long the elector's own loop hasn't done what was due: zero while all is well. More than a few seconds mean that the process was frozen, gets no time from its machine, or hangs.
	Late time.Duration
}

// Health tells how the elector is. It does no I/O and takes no lock.
func (e *Elector) Health() Health {
	return Health{State: core.State(e.member.state.Load()).String(), Late: e.loop.late()}
}

// Health tells how the group's loop is; its State is empty.
func (g *Group) Health() Health { return Health{Late: g.loop.late()} }

// late is for how long the loop hasn't woken up although it was to.
func (l *loop) late() time.Duration {
	due := l.wakesAt.Load()
	if due == 0 {
		return 0 // it is at rest, or has just begun
	}
	mono, _ := l.clock.Sample()
	return time.Duration(max(0, mono-due))
}
