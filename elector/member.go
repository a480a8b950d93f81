package elector

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/core"
)

// member is one election of a loop. All fields but belief and state belong to the loop's goroutine.
type member struct {
	loop     *loop
	election string
	machine  core.Machine
	belief   atomic.Pointer[core.Belief]
	state    atomic.Uint32

	term    *Term
	waiters []*waiter
	watches []*ear

	due       int64 // when the machine wants a tick
	duePlace  int32 // in the loop's dues; negative: nowhere
	busyPlace int32 // among the loop's busy ones
}

// waiter is a caller of Run, Campaign or TryCampaign, or a group's part in one election.
type waiter struct {
	id     uint64
	values context.Context //nolint:containedctx // carries the caller's values into its terms, never its end
	caller caller
	over   chan struct{} // closed at the end; nil where nobody waits for that
	left   func()        // called at the end, if set; it must not block
	run    bool          // a function does the work, and says by its return that it is over
}

// caller is told a term, or the end with its reason. It must not block: the loop tells it.
type caller interface{ tell(outcome) }

// outcome is a term, or the end with its reason.
type outcome struct {
	term *Term
	err  error
}

// outcomes has room for a term and an end, so that the loop never waits.
type outcomes chan outcome

func (c outcomes) tell(o outcome) { c <- o }

func newMember(l *loop, election string) *member {
	m := &member{}
	m.init(l, election)
	return m
}

func (m *member) init(l *loop, election string) {
	m.loop, m.election, m.machine = l, election, l.shared.Machine(election)
	m.duePlace, m.busyPlace = -1, -1
}

func (m *member) believe(b core.Belief) {
	before := m.belief.Load() != nil
	if b == (core.Belief{}) {
		m.belief.Store(nil)
		if before {
			m.loop.believers--
		}
		return
	}
	m.belief.Store(&b)
	if !before {
		m.loop.believers++
	}
}

func (m *member) waiter(id uint64) *waiter {
	return m.waiters[slices.IndexFunc(m.waiters, func(w *waiter) bool { return w.id == id })]
}

func (m *member) begin(a core.Action) {
	w := m.waiter(a.Caller)
	m.term = &Term{id: a.Term, member: m, token: a.Lease.Fence(), waiter: w}
	w.caller.tell(outcome{term: m.term})
}

func (m *member) finish(a core.Action) {
	w := m.waiter(a.Caller)
	m.waiters = slices.DeleteFunc(m.waiters, func(other *waiter) bool { return other == w })
	err := a.Err
	if err != nil {
		err = fmt.Errorf("elector: %q: %w", m.election, err)
	}
	w.caller.tell(outcome{err: err})
	if w.left != nil {
		w.left()
	}
	if w.over != nil {
		close(w.over)
	}
}

func (m *member) overrun(a core.Action) {
	if f := m.loop.cfg.OnOverrun; f != nil {
		t := fence.Token{Value: a.Lease.Token, Attempt: a.Lease.Attempt}
		f(Overrun{Election: m.election, Token: t, Cause: a.Err})
	}
}
