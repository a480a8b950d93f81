package sim

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/core"
)

// checker looks at everything while it happens.
type checker struct {
	w          *run
	ledgers    []ledger
	violations []Violation
	seen       [invariants]int

	requests, terms, losses, overruns, jumps int
	order                                    uint64 // of who led after whom
}

// ledger is what is true of one election, whatever anybody says.
type ledger struct {
	grants   []grant
	top      int64 // the highest token granted
	last     int64 // the last token under which a term has begun
	lost     bool  // the store has lost something
	sealed   [guards]int64
	accepted [guards]fence.Token
	led      int64 // when somebody last believed
	wanted   int64 // since when somebody has wanted to lead without a break; -1: nobody does
	released int64 // when it was released with somebody waiting, else 0
}

type grant struct {
	token    int64
	attempt  backend.Attempt
	holder   string
	released bool
}

// memory is what the checker knows of a member.
type memory struct {
	counter   int64 // as the machine has seen it
	granted   backend.Attempt
	released  backend.Attempt
	replying  *request // whose reply is being delivered
	searching bool
	since     int64 // true time since when it has searched
	asked     int64 // monotonic reading at the last look
	started   bool  // notices alternate
	lost      bool  // stepped down against its will
	overruns  bool
	overdue   uint64 // the term which, a second ago, said that it leads though its time was over
	leader    int64  // token, as last told
	bucket    int64  // of 10 s
	load      int
	gone      [2]int // callers, in the last bucket and in this one
}

func newChecker(w *run) checker {
	c := checker{w: w, ledgers: make([]ledger, w.elections)}
	for i := range c.ledgers {
		c.ledgers[i].wanted = -1
	}
	return c
}

// violate notes a breach. Where the world doesn't promise otherwise it is counted, else it ends the run.
func (w *run) violate(i Invariant, m *member, format string, args ...any) {
	if w.world.breaks(i) {
		w.see(i, m)
		return
	}
	text := fmt.Sprintf(format, args...)
	if m != nil {
		text = m.p.id + " (" + m.cfg.Election + "): " + text
	}
	w.check.violations = append(w.check.violations, Violation{i, time.Duration(w.now), text})
	w.note(nil, "VIOLATION of "+i.String()+": "+text)
	w.done = true
}

// see notes something that must be seen in worlds which don't exclude it.
func (w *run) see(i Invariant, m *member) {
	if w.check.seen[i] == 0 {
		w.note(m, "as is to be expected in this world: "+i.Text()+": not so here")
	}
	w.check.seen[i]++
}

// believes looks at each belief that is published: overlaps can begin only here.
func (c *checker) believes(m *member) {
	w := c.w
	if m.belief.Term == 0 || !m.believed(m.belief.Hard) {
		return
	}
	l := &c.ledgers[m.election]
	l.led = w.now
	for _, p := range w.alive {
		other := p.members[m.election]
		if other != m && other.belief.Term != 0 && other.believed(other.belief.Hard) {
			w.violate(I1, m, "believes to lead, and so does %s", p.id)
		}
	}
	e := &w.server.entries[m.election]
	if now := w.server.model.clock(); e.Attempt == m.m.granted && e.Live(now) {
		belief, lease := m.p.osc.lasts(m.remains()), w.server.osc.lasts(e.Expires-now.Now)
		if belief > lease {
			w.violate(I1a, m, "believes for %v, and its lease lasts for %v", time.Duration(belief), time.Duration(lease))
		}
	}
}

// stepped looks at one step: what a reply may change and what it must.
func (c *checker) stepped(m *member, e *core.Event, actions []core.Action, before core.Belief) {
	if e.Kind != core.Renewed || m.m.replying == nil {
		return
	}
	class := backend.ClassOf(e.Err)
	mine := m.work.active && m.m.replying.lease.Attempt == m.work.token.Attempt
	m.m.replying = nil
	now := m.p.read()
	ended := false
	for i := range actions {
		a := &actions[i]
		switch a.Kind {
		case core.DoEndWork:
			ended = true
			early := before.Soft-now.Mono+before.Anchor.Mono > 0 && m.believed(before.Soft)
			if early && (class == backend.Unknown || class == backend.Denied || class == backend.OK || !mine) {
				c.w.violate(I15, m, "ends its term for a reply that doesn't end it: %v", e.Err)
			}
		case core.DoBelieve:
			if (class != backend.OK || !mine) && a.Belief.Term != 0 && a.Belief.Hard > m.remains()+1000 {
				c.w.violate(I15, m, "believes for longer after a reply that is no renewal: %v", e.Err)
			}
		default:
		}
	}
	if class == backend.NotHeld && mine && !m.work.told && before.Leading && !ended {
		c.w.violate(I15, m, "goes on although its lease is not held")
	}
}

// overrun is work that outlives its lease.
func (c *checker) overrun(m *member) {
	c.overruns++
	m.m.overruns = true
	c.recount(m.election)
	if m.believed(m.belief.Hard) {
		c.w.violate(I6, m, "believes while its work outlives the lease")
	}
}

func (c *checker) returned(m *member) {
	m.m.overruns = false
	c.recount(m.election)
}

// wants, finishes and recount keep track of since when an election has had somebody who could lead.
func (c *checker) wants(m *member) { c.recount(m.election) }

func (c *checker) recount(election int) {
	l := &c.ledgers[election]
	for _, p := range c.w.alive {
		if m := p.members[election]; m.wants && m.works() && !m.m.overruns {
			if l.wanted < 0 {
				l.wanted = c.w.now
			}
			return
		}
	}
	l.wanted = -1
}

func (c *checker) died(m *member) {
	c.w.note(m, "is gone")
	c.recount(m.election)
}

// outcome is a hash of what came of the run, without the times: a fault that only delays messages by a little has not mattered.
func (c *checker) outcome() uint64 {
	h := c.order
	for i := range c.ledgers {
		if c.w.server.model.clock().Bound == 0 { // else a token is a time
			h ^= uint64(c.ledgers[i].top) * 0x94d049bb133111eb
		}
	}
	for _, x := range [...]int{c.jumps, c.terms, c.losses, c.overruns, c.w.refusals, len(c.violations)} {
		h = (h ^ uint64(x)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}
