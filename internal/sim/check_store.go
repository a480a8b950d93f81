package sim

import (
	"errors"
	"slices"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/record"
)

// applied looks at each change of a record by a request.
func (c *checker) applied(r *request, before, after *record.Entry) {
	w, m := c.w, r.m
	l := &c.ledgers[m.election]
	c.owner(r, before, after)
	switch r.kind {
	case core.DoAcquire:
		w.longest = max(w.longest, after.TTL)
		if after.Token != before.Token || after.Attempt != before.Attempt {
			c.granted(m, l, after)
		}
	case core.DoRenew:
		g := l.find(after.Token)
		if g == nil || g.released || after.Token != l.top && !l.lost {
			w.violate(I7, m, "token %d is renewed after its end", after.Token)
		}
	case core.DoRelease:
		if g := l.find(r.lease.Token); g != nil && g.attempt == r.lease.Attempt {
			g.released = true
		} else if g := l.find(after.Token); g != nil && r.lease.Token == 0 {
			g.released = true
		}
		if r.handover.For > 0 {
			w.quiet = max(w.quiet, w.now+int64(r.handover.For))
		}
		l.released = 0
		if r.handover.For == 0 && w.now-w.quiet > 3*int64(w.longest) && c.waiting(m) {
			l.released = w.now
		}
	default:
	}
}

// owner looks whether a live lease was changed by somebody else.
func (c *checker) owner(r *request, before, after *record.Entry) {
	if before.Mode == backend.Beat || !before.Live(c.w.server.model.clock()) {
		return
	}
	switch r.kind {
	case core.DoAcquire:
		if before.Holder.ID != r.claim.Candidate.ID || before.Attempt != r.claim.Attempt && !slices.Contains(r.claim.Abandoned, before.Attempt) {
			c.w.violate(I12, r.m, "its claim has changed the live lease of %s", before.Holder.ID)
		}
	case core.DoRenew, core.DoRelease:
		if before.Attempt != r.lease.Attempt || before.Holder.ID != r.lease.Holder {
			c.w.violate(I12, r.m, "its request has changed the live lease of %s, token %d", before.Holder.ID, after.Token)
		}
	default:
	}
}

func (c *checker) granted(m *member, l *ledger, e *record.Entry) {
	w := c.w
	w.note(m, "is granted the election by the store")
	if e.Token <= l.top {
		w.violate(I2, m, "is granted token %d after %d", e.Token, l.top)
	}
	for i := range l.grants {
		if l.grants[i].attempt == e.Attempt {
			w.violate(I8, m, "one attempt is granted tokens %d and %d", l.grants[i].token, e.Token)
		}
	}
	l.top = max(l.top, e.Token)
	l.grants = append(l.grants, grant{token: e.Token, attempt: e.Attempt, holder: e.Holder.ID})
	l.released = 0
}

// find returns the last grant of a token.
func (l *ledger) find(token int64) *grant {
	for i := len(l.grants) - 1; i >= 0; i-- {
		if l.grants[i].token == token {
			return &l.grants[i]
		}
	}
	return nil
}

// waiting reports that somebody else has searched for a while, and runs: it must have a watch.
func (c *checker) waiting(releaser *member) bool {
	for _, p := range c.w.alive {
		m := p.members[releaser.election]
		if m != releaser && m.m.searching && c.w.now-m.m.since > 3*int64(c.w.longest) && p.runs() && m.mode != core.Try && !p.hampered() {
			return true
		}
	}
	return false
}

// hampered reports faults which last for a whole run, or longer than their window.
func (p *process) hampered() bool { return p.slot.has(Leaves) || p.dying || p.closing }

// wentBack is told that the store has lost something.
func (c *checker) wentBack(election int, _ *record.Entry) {
	l := &c.ledgers[election]
	l.lost = true
	l.released = 0
	c.w.quiet = max(c.w.quiet, c.w.now)
}

// removed is told that a live record is gone.
func (c *checker) removed(election int) { c.ledgers[election].released = 0 }

// sends looks at each request.
func (c *checker) sends(r *request) {
	w, m := c.w, r.m
	c.requests++
	c.load(m)
	election := r.lease.Election
	switch r.kind {
	case core.DoGet:
		election = m.cfg.Election
		m.m.asked = r.sent.Mono
	case core.DoAcquire:
		election = r.claim.Election
		m.m.asked = r.sent.Mono
		if m.p.slot.has(StopInAcquire) {
			w.hit(StopInAcquire)
			w.schedule(m.p.work.upTo(6_000_000), event{kind: evPost, m: m, n: uint64(core.Unwant)})
		}
	case core.DoRenew:
		if r.lease.Attempt == m.m.released || m.m.lost && m.work.active && r.lease.Attempt == m.work.token.Attempt {
			w.violate(I7, m, "renews after it has stepped down")
		}
		if m.p.slot.has(ResignInRenewal) && m.work.active {
			w.hit(ResignInRenewal)
			w.schedule(m.p.work.upTo(6_000_000), event{kind: evPost, m: m, n: uint64(core.Resign)})
		}
	case core.DoRelease:
		if m.work.active && r.lease.Attempt == m.work.token.Attempt {
			w.violate(I6, m, "releases its lease while its work goes on")
		}
		m.m.released = r.lease.Attempt
	default:
	}
	if election != m.cfg.Election {
		w.violate(I13, m, "sends a request about %q", election)
	}
}

// answered takes note of what a machine is about to learn.
func (c *checker) answered(r *request, e *core.Event) {
	m := r.m
	m.m.replying = r
	switch e.Kind {
	case core.GotRecord:
		if e.Err == nil {
			m.m.counter = e.Record.Counter
		}
	case core.Acquired:
		if held, ok := errors.AsType[*backend.HeldError](e.Err); ok {
			m.m.counter = held.Record.Counter
		}
		if e.Err == nil && e.Lease.Attempt == r.claim.Attempt { // else it is another request's reply
			m.m.counter = e.Lease.Token
			m.m.granted = e.Lease.Attempt
			m.m.searching = false
		}
	default:
	}
}
