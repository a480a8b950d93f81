package elector

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// member is one election of a loop. All fields but belief belong to the loop's goroutine.
type member struct {
	cfg     Config
	clock   *clock.Source
	loop    *loop
	machine *core.Machine
	relay   *relay
	belief  atomic.Pointer[core.Belief]

	looked  int64 // when the machine last looked at the clocks
	watches map[uint64]context.CancelFunc
	waiters map[uint64]*waiter
	term    *Term
}

// waiter is a caller of Run, Campaign or TryCampaign.
type waiter struct {
	id       uint64
	values   context.Context //nolint:containedctx // carries the caller's values into its terms, never its end
	outcomes chan outcome    // room for a term and an end, so that the loop never waits
	over     chan struct{}   // closed at the end
	run      bool            // a caller of Run
}

// outcome is a term, or the end with its reason.
type outcome struct {
	term *Term
	err  error
}

func newMember(cfg Config, l *loop) *member {
	m := &member{
		cfg: cfg, clock: l.clock, loop: l, relay: &relay{deliver: cfg.deliver},
		watches: map[uint64]context.CancelFunc{}, waiters: map[uint64]*waiter{},
		machine: core.New(core.Config{
			Election: cfg.Election, Candidate: cfg.Candidate, TTL: cfg.TTL, RenewInterval: cfg.RenewInterval,
			AttemptTimeout: cfg.AttemptTimeout, DrainTimeout: cfg.DrainTimeout, Cooldown: cfg.Cooldown,
			Spread: spread, Margins: cfg.margins(), Guards: len(cfg.Guards),
		}),
	}
	l.members = append(l.members, m)
	return m
}

func (m *member) believe(b core.Belief) {
	if b == (core.Belief{}) {
		m.belief.Store(nil)
		return
	}
	m.belief.Store(&b)
}

func (m *member) begin(a core.Action) {
	w := m.waiters[a.Caller]
	t := newTerm(m, a, w)
	m.term = t
	w.outcomes <- outcome{term: t}
}

func (m *member) endWork(a core.Action) {
	m.term.ctx.cancel(a.Err)
}

func (m *member) finish(a core.Action) {
	w := m.waiters[a.Caller]
	delete(m.waiters, a.Caller)
	err := a.Err
	if err != nil {
		err = fmt.Errorf("elector: %q: %w", m.cfg.Election, err)
	}
	w.outcomes <- outcome{err: err}
	close(w.over)
}

func (m *member) overrun(a core.Action) {
	if m.cfg.OnOverrun != nil {
		t := fence.Token{Value: a.Lease.Token, Attempt: a.Lease.Attempt}
		m.cfg.OnOverrun(Overrun{Election: m.cfg.Election, Token: t, Cause: a.Err})
	}
}
