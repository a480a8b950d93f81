package core

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// term is one leadership, from the grant until its work has returned and its lease is given back.
type term struct {
	id         uint64
	lease      backend.Lease
	anchor     clock.Reading
	soft, hard time.Duration // since anchor

	renewal  uint64 // request in flight
	renewAt  int64
	failures int
	denied   bool // a failure since the last renewal was one of credentials

	seals  []seal
	sealBy int64

	working bool  // its work has begun and not returned
	cause   error // why it ended
	gone    bool  // the store said that it is not held
	drainBy int64

	stop  error // the caller wants no further term
	again bool  // campaign again when it is over
	stay  time.Duration
	err   error // what the caller gets otherwise

	successor string        // the election is reserved for it on release
	reserve   time.Duration // for how long
	keepUntil int64         // the election is kept for nobody until then

	release   uint64 // request in flight
	releaseAt int64
	releases  int
}

func (m *Machine) elapsed() time.Duration { return clock.Elapsed(m.term.anchor, m.now) }

// begin starts the term's work: all guards know of it.
func (m *Machine) begin() {
	m.campaign = &m.noCampaign // nothing of it is under way
	m.term.working, m.refused = true, 0
	m.setState(Leading)
	m.believe()
	m.notify(Notice{Kind: NoteStarted, Token: m.term.lease.Token, Holder: m.cfg.Candidate})
	m.do(Action{Kind: DoBegin, Term: m.term.id, Caller: m.caller, Lease: m.term.lease})
}

// believe publishes what may be believed now. It counts from this look at the clocks rather than from the lease's anchor: a step of the wall clock before it can't hide a
// suspend after it.
func (m *Machine) believe() {
	t := m.term
	var b Belief
	if t.working && !t.gone {
		gone := m.elapsed()
		b = Belief{Term: t.id, Leading: m.state == Leading, Anchor: m.now, Soft: int64(t.soft - gone), Hard: int64(t.hard - gone)}
	}
	m.do(Action{Kind: DoBelieve, Belief: b})
}

// passTime ends what the clock has ended. It runs before any event is looked at.
func (m *Machine) passTime() {
	t := m.term
	switch m.state {
	case Sealing, Leading, Draining, Lost:
	default:
		return
	}
	gone := m.elapsed()
	if gone >= t.soft {
		switch m.state {
		case Sealing:
			m.leaveSealing(m.deadlineCause(), 0)
		case Leading:
			m.lose(m.deadlineCause())
		case Draining: // the drain's renewals failed; its cause stands
			m.setState(Lost)
		}
	}
	if m.state == Draining && m.now.Mono >= t.drainBy {
		m.setState(Lost) // no more renewals, and no release: the successor waits for the lease's end
	}
	if m.state == Lost && gone >= t.hard {
		m.expire()
	}
}

func (m *Machine) deadlineCause() error {
	if m.term.denied {
		return ErrDenied
	}
	return ErrDeadline
}

// onResign steps down because the caller wants to.
func (m *Machine) onResign(e Event) {
	t := m.term
	if e.Term != t.id || !t.working {
		return
	}
	switch {
	case e.Handover.To != "":
		t.successor, t.reserve, t.keepUntil = e.Handover.To, e.Handover.For, 0
	case e.Handover.For > 0:
		t.successor, t.keepUntil = "", m.in(e.Handover.For)
	}
	if m.state == Leading {
		m.stepDown(ErrResigned)
		m.standAside()
	}
	if !m.hasWork() { // the caller of Campaign says by Resign that its work is over
		m.onWorkReturned(e.Term, nil)
	}
}

// onOverdue ends a term whose work has been told that its time is over. Clocks that disagree may have said so before passTime would.
func (m *Machine) onOverdue(id uint64) {
	if id == m.term.id && m.state == Leading {
		m.lose(m.deadlineCause())
	}
}

// stepDown ends the term on purpose: its work is told to end, and the lease renewed until it has.
func (m *Machine) stepDown(cause error) {
	t := m.term
	t.cause = cause
	t.drainBy = m.in(m.cfg.DrainTimeout)
	m.setState(Draining)
	m.believe()
	m.notify(Notice{Kind: NoteDraining, Token: t.lease.Token, Err: cause})
	m.do(Action{Kind: DoEndWork, Term: t.id, Err: cause})
}

// lose ends the term against its will. A definite answer of the store sets gone before.
func (m *Machine) lose(cause error) {
	t := m.term
	t.cause = cause
	t.again = m.hasWork()
	t.stay = m.cfg.Cooldown
	m.setState(Lost)
	m.believe()
	m.notify(Notice{Kind: NoteLost, Token: t.lease.Token, Err: cause})
	m.do(Action{Kind: DoEndWork, Term: t.id, Err: cause})
}

// expire is the hard deadline: from here on another may lead.
func (m *Machine) expire() {
	t := m.term
	m.do(Action{Kind: DoBelieve})
	if m.hasWork() {
		m.setState(Overrun)
		m.notify(Notice{Kind: NoteOverrun, Token: t.lease.Token, Err: t.cause})
		m.do(Action{Kind: DoOverrun, Term: t.id, Lease: t.lease, Err: t.cause})
		return
	}
	// A term without a function: nobody can tell whether its work goes on, so nothing is released.
	t.working = false
	m.notify(Notice{Kind: NoteStopped, Token: t.lease.Token, Err: t.cause})
	m.conclude()
}

// onWorkReturned gives the lease back: nothing depends on it any more.
func (m *Machine) onWorkReturned(id uint64, result error) {
	t := m.term
	if id != t.id || !t.working {
		return
	}
	t.working = false
	t.err = result
	if t.cause == nil {
		m.tryAgain(result)
		t.cause = ErrResigned
		m.do(Action{Kind: DoEndWork, Term: t.id, Err: t.cause})
	}
	m.do(Action{Kind: DoBelieve})
	why := t.cause
	if result != nil { // after a loss nobody else is told of it
		why = fmt.Errorf("%w; its work returned: %w", t.cause, result)
	}
	m.notify(Notice{Kind: NoteStopped, Token: t.lease.Token, Err: why})
	m.startRelease()
}

// hasWork reports that a function does the work of terms, which says by its return that it is over.
func (m *Machine) hasWork() bool { return m.mode == Run || m.mode == Serve }

// standAside lets others go first after a resignation from one of many elections; a named successor has its reservation.
func (m *Machine) standAside() {
	if t := m.term; m.mode == Serve {
		t.again, t.stay = true, m.cfg.Cooldown
		if t.successor == "" {
			t.stay = max(t.stay, 2*m.cfg.AttemptTimeout)
		}
	}
}

// tryAgain keeps an election whose work has failed by itself: others may go first, and the waits grow.
func (m *Machine) tryAgain(failure error) {
	if t := m.term; m.mode == Serve && failure != nil {
		t.again, t.stay = true, max(m.cfg.Cooldown, Ceiling(int(m.crashes), m.cfg.TTL)+m.jitter(2*m.cfg.AttemptTimeout))
		m.crashes++
	}
}

// conclude goes on after a term.
func (m *Machine) conclude() {
	t := m.term
	m.term = &m.noTerm
	switch {
	case t.stop != nil:
		m.finish(m.because(t.stop))
	case t.again:
		m.startCampaign(t.stay)
		if m.state == Quarantined {
			m.notify(Notice{Kind: NoteQuarantined, Err: t.cause})
		}
	default:
		m.finish(t.err)
	}
}

func (m *Machine) dueTerm() int64 {
	t := m.term
	at := func(deadline time.Duration) int64 { return m.now.Mono + int64(deadline-m.elapsed()) }
	switch m.state {
	case Sealing:
		return min(at(t.soft), m.dueRenewal(), m.dueSeals())
	case Leading:
		return min(at(t.soft), m.dueRenewal())
	case Draining:
		return min(at(t.soft), m.dueRenewal(), t.drainBy)
	case Lost:
		return at(t.hard)
	case Releasing:
		if t.release == 0 {
			return t.releaseAt
		}
	}
	return never
}
