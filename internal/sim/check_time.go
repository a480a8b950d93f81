package sim

import (
	"time"

	"github.com/tenure-go/tenure/fence"
)

// A caller makes its candidate send so many requests within ten seconds at most, whatever happens. Each one that has come and gone may have left an attempt behind whose outcome isn't
// known and which is given back in the background, with growing waits.
const most, mostOfOthers = 100, 30

// load counts the requests of each candidate.
func (c *checker) load(m *member) {
	k := &m.m
	if bucket := c.w.now / int64(10*time.Second); bucket != k.bucket {
		k.bucket, k.load = bucket, 0
		k.gone[0], k.gone[1] = k.gone[1], 0
	}
	k.load++
	gone := k.gone[0] + k.gone[1]
	if gone <= 1 {
		c.w.peak = max(c.w.peak, k.load)
	}
	if k.load > most+mostOfOthers*gone {
		c.w.violate(I14, m, "has sent %d requests within ten seconds", k.load)
	}
}

func (c *checker) opens(m *member) { c.load(m) }

// inspect looks at everything once a second: what ought to have happened by now.
func (c *checker) inspect() {
	w := c.w
	for i := range c.ledgers {
		c.inspectElection(i, &c.ledgers[i])
	}
	for _, p := range w.alive {
		if !p.runs() || w.now-p.asleep < int64(time.Second) || p.slot.has(Starved) || p.slot.has(Stutter) {
			continue
		}
		for _, m := range p.members {
			c.inspectMember(m)
		}
	}
}

func (c *checker) inspectElection(i int, l *ledger) {
	w := c.w
	for _, p := range w.alive {
		if m := p.members[i]; m.belief.Term != 0 && m.believed(m.belief.Hard) {
			l.led = w.now
		}
	}
	if l.wanted >= 0 {
		since := max(l.led, l.wanted, w.quiet)
		bound := 2*w.longest + w.longest/2 + 3*time.Second + w.world.slower
		if w.now-since > int64(bound) {
			w.violate(I4, nil, "%s has had no leader for %v, though nothing was in the way", electionNames[i], time.Duration(w.now-since))
		}
	}
	if l.released != 0 {
		switch {
		case w.quiet > l.released:
			l.released = 0
		case w.now-l.released > int64(500*time.Millisecond):
			w.violate(I5, nil, "%s was released %v ago and nobody has taken it", electionNames[i], time.Duration(w.now-l.released))
		}
	}
}

func (c *checker) inspectMember(m *member) {
	w := c.w
	switch { // a jump of a clock is seen at the shell's next regular look
	case !m.belief.Leading || m.believed(m.belief.Soft):
		m.m.overdue = 0
	case m.m.overdue == m.belief.Term:
		w.violate(I6, m, "its work was not told to end in time")
	default:
		m.m.overdue = m.belief.Term
	}
	// The longest sleep of a follower: the holder's TTL, or a bar of TTL and lag; then the longest backoff, and an attempt that timed out.
	bound := w.longest + w.longest/2 + m.cfg.TTL + 2*time.Second
	if m.m.searching && m.wants && time.Duration(m.p.read().Mono-m.m.asked) > bound {
		w.violate(I9, m, "has not looked for %v", time.Duration(m.p.read().Mono-m.m.asked))
	}
}

// final looks at the end: whatever happened before, there is a leader again.
func (c *checker) final() {
	for i := range c.ledgers {
		led := c.ledgers[i].wanted < 0
		for _, p := range c.w.alive {
			m := p.members[i]
			led = led || m.believed(m.belief.Hard) || !m.works() && m.wants
		}
		if !led && c.w.now-max(c.ledgers[i].led, c.ledgers[i].wanted, c.w.quiet) > int64(3*c.w.longest+c.w.world.slower) {
			c.w.violate(I16, nil, "nobody leads %s at the end", electionNames[i])
		}
	}
}

// sealed takes note of a guard's mark.
func (c *checker) sealed(election, g int, mark fence.Token) {
	l := &c.ledgers[election]
	l.sealed[g] = max(l.sealed[g], mark.Value)
}

// effect looks at each write that a guard has accepted.
func (c *checker) effect(x *write, g int) {
	l := &c.ledgers[x.election]
	last := l.accepted[g]
	if x.token.Value < last.Value || x.token.Value == last.Value && x.token.Attempt != last.Attempt {
		c.w.violate(I3, x.from, "a guard has accepted token %v after %v", x.token, last)
	}
	if x.token.Value < l.sealed[g] {
		c.w.violate(I3s, x.from, "a guard has accepted token %v though it was sealed at %d", x.token, l.sealed[g])
	}
	l.accepted[g] = x.token
}
