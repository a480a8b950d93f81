package sim

import (
	"context"
	"errors"
	"time"

	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/core"
)

// work is the leader's function, or what the caller of Campaign does beside its term: it looks whether it may go on, writes, and stops when it is told to.
type work struct {
	active    bool
	term      uint64
	token     fence.Token
	told      bool // its context has ended
	deaf      bool // it doesn't listen
	returning bool
}

// write is an effect on its way to the guards.
type write struct {
	election int
	token    fence.Token
	from     *member
}

func (m *member) begin(a *core.Action) {
	w := m.p.w
	w.check.begins(m, a)
	m.work = work{active: true, term: a.Term, token: a.Lease.Fence()}
	w.schedule(m.p.work.upTo(int64(300*time.Millisecond)), event{kind: evLook, m: m, n: a.Term})
	if !m.works() {
		w.schedule(m.p.work.between(time.Second, 40*time.Second), event{kind: evReturned, m: m, n: a.Term})
	}
}

func (m *member) endWork(a *core.Action) {
	m.p.w.check.ends(m, a)
	m.stopWork()
}

// stopWork is what the work does when its context ends.
func (m *member) stopWork() {
	k := &m.work
	if !k.active || k.told {
		return
	}
	w, s := m.p.w, m.p.slot
	k.told = true
	takes := m.p.work.upTo(int64(200 * time.Millisecond))
	switch {
	case s.has(Stuck):
		w.hit(Stuck)
		w.note(m, "its work ignores that it is told to end")
		takes, k.deaf = s.arg[Stuck], true
		w.quiet = max(w.quiet, w.now+takes)
	case s.has(SlowStop):
		w.hit(SlowStop)
		takes = s.arg[SlowStop]
	}
	if !k.returning {
		k.returning = true
		w.schedule(takes, event{kind: evReturned, m: m, n: k.term})
	}
}

// look is one round of the work: it asks whether its term is valid, and then writes; between the two anything may happen.
func (m *member) look(term uint64) {
	k := &m.work
	w, s := m.p.w, m.p.slot
	if !k.active || k.term != term {
		return
	}
	w.schedule(m.p.work.between(500*time.Millisecond, time.Second), event{kind: evLook, m: m, n: term})
	if !k.told && m.belief.Term == term && !m.believed(m.belief.Soft) { // its context compares clocks
		m.stopWork()
		m.step(core.Event{Kind: core.Overdue, Term: term})
	}
	if mayWrite := !k.told && m.belief.Term == term && m.believed(m.belief.Hard); !mayWrite && !k.deaf {
		return
	}
	switch {
	case s.has(Panics):
		w.hit(Panics)
		m.panics()
		return
	case (s.has(ReturnsEarly) || s.has(WorkFails)) && !k.told && !k.returning:
		k.returning = true
		w.schedule(m.p.work.upTo(int64(300*time.Millisecond)), event{kind: evReturned, m: m, n: term})
	case s.has(PauseAtWrite):
		w.hit(PauseAtWrite)
		w.note(m, "freezes between its look and its write")
		m.p.sleep(s.arg[PauseAtWrite])
		w.quiet = max(w.quiet, m.p.asleep)
	}
	w.schedule(int64(2*time.Millisecond), event{kind: evWrite, m: m, w: &write{m.election, k.token, m}})
}

var errPanic = errors.New("the leader's function panicked")

// panics is what the shell does when the work panics: the lease is given back before the panic goes on and ends the process.
func (m *member) panics() {
	m.p.w.note(m, "its work panics")
	term := m.work.term
	m.p.dying = true
	m.work = work{}
	m.p.w.check.returned(m)
	m.step(core.Event{Kind: core.Unwant, Caller: m.caller, Err: errPanic})
	m.step(core.Event{Kind: core.WorkReturned, Term: term})
}

var errWork = errors.New("the leader's function failed")

func (m *member) returned(term uint64) {
	k := &m.work
	if !k.active || k.term != term {
		return
	}
	told := k.told
	m.work = work{}
	m.p.w.check.returned(m)
	e := core.Event{Kind: core.WorkReturned, Term: term}
	switch {
	case !m.works():
		e.Kind = core.Resign
	case m.p.slot.has(WorkFails) && !told:
		m.p.w.hit(WorkFails)
		e.Err = errWork
	case !told:
		m.p.w.hit(ReturnsEarly)
	}
	m.step(e)
	if !m.wants { // a term without a function has been concluded before
		m.again()
	}
}

// finished is the end of the caller's Run, Campaign or TryCampaign; it comes back after a while.
func (m *member) finished(a *core.Action) {
	m.wants = false
	m.p.w.check.finishes(m, a)
	if m.p.dying {
		m.p.w.schedule(0, event{kind: evFinished, m: m})
		return
	}
	if !m.work.active {
		m.again()
	}
}

func (m *member) again() {
	most := int64(3 * time.Second)
	if m.works() && m.p.work.oneIn(3) { // at once: requests of the last term are still under way
		most = 1
	}
	m.p.w.schedule(m.p.work.upTo(most), event{kind: evWant, m: m})
}

// post is something that the caller does at a time of its own.
func (m *member) post(kind core.EventKind) {
	switch kind {
	case core.Unwant:
		if m.wants {
			m.step(core.Event{Kind: core.Unwant, Caller: m.caller, Err: context.Canceled})
		}
	case core.Resign:
		if m.work.active && m.works() {
			m.step(core.Event{Kind: core.Resign, Term: m.work.term})
		}
	case core.Close:
		m.step(core.Event{Kind: core.Close})
	default:
	}
}
