package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// member is one election of one process: a machine, and what the shell keeps beside it.
type member struct {
	p        *process
	election int
	cfg      core.Config
	machine  Machine
	mode     core.Mode
	caller   uint64
	wants    bool // between Want and DoFinish
	belief   core.Belief
	tickAt   int64  // true time for which the timer is set
	timer    uint64 // an earlier setting doesn't count
	watch    uint64
	watching bool // the server sends wake-ups
	missed   bool // a wake-up was lost with the connection: one follows when it is back
	flights  flights
	work     work
	m        memory
}

// flights are the requests under way that faults aim at.
type flights struct{ acquires, renewals int }

const (
	// watchful is how often the shell looks at the clocks while a term runs.
	watchful = 250 * int64(time.Millisecond)
	// hop is by how much the clocks may disagree before all machines are told.
	hop = 5 * time.Millisecond
)

// step feeds the machine one event, does what it says, and looks what time it is, as the shell's loop does.
func (m *member) step(e core.Event) {
	m.feed(e)
	m.p.tick()
	m.due()
}

// tick tells all machines that have a term when the clocks disagree on what the time is.
func (p *process) tick() {
	now := p.read()
	jump := clock.Jump(p.looked, now)
	slept := clock.Elapsed(p.looked, now) - time.Duration(now.Mono-p.looked.Mono)
	if max(jump, -jump, slept) <= hop {
		return
	}
	p.looked = now
	for _, m := range p.members {
		if m.belief.Term != 0 {
			m.feed(core.Event{Kind: core.Tick})
			m.arm(now.Mono)
		}
	}
}

// due feeds ticks until the machine has nothing more to do now.
func (m *member) due() {
	for range 100 {
		now := m.p.read().Mono
		if due, ok := m.machine.Due(); !ok || due > now {
			m.arm(now)
			return
		}
		m.feed(core.Event{Kind: core.Tick})
	}
	m.p.w.violate(I14, m, "the machine is due again and again at the same moment")
}

// works reports that a function does the work of terms.
func (m *member) works() bool { return m.mode == core.Run || m.mode == core.Serve }

func (m *member) feed(e core.Event) {
	w := m.p.w
	now := m.p.read()
	in := core.Input{Now: now, Rand: [2]uint64{m.p.rand.Uint64(), m.p.rand.Uint64()}, Event: e}
	w.steps++
	w.mix(uint64(w.now) ^ uint64(e.Kind)<<56)
	before := m.belief
	actions := m.machine.Step(in)
	w.check.stepped(m, &e, actions, before)
	for i := range actions {
		w.mix(uint64(actions[i].Kind)<<32 | actions[i].Request)
		m.perform(&actions[i])
	}
	if w.o.Record != nil {
		w.o.Record(m.p.id, m.cfg, in, actions)
	}
}

// arm sets the timer for the machine's next due time, and for the regular look while a term runs.
func (m *member) arm(now int64) {
	due, ok := m.machine.Due()
	if m.belief.Term != 0 {
		if look := now + watchful; !ok || look < due {
			due, ok = look, true
		}
	}
	if !ok {
		m.tickAt = 0
		m.timer++
		return
	}
	w := m.p.w
	at := w.now + m.p.osc.lasts(max(0, due-now)) + 1
	if at == m.tickAt {
		return
	}
	m.tickAt = at
	m.timer++
	w.q.push(event{at: at, kind: evTick, m: m, n: m.timer})
}

func (m *member) perform(a *core.Action) {
	switch a.Kind {
	case core.DoGet, core.DoAcquire, core.DoRelease, core.DoSeal:
		m.send(a)
	case core.DoRenew:
		m.send(a)
		m.p.beat(m)
	case core.DoOpenWatch:
		m.openWatch(a)
	case core.DoCloseWatch:
		m.closeWatch(a.Request)
	case core.DoBelieve:
		m.belief = a.Belief
		m.p.w.check.believes(m)
	case core.DoBegin:
		m.begin(a)
	case core.DoEndWork:
		m.endWork(a)
	case core.DoOverrun:
		m.p.w.note(m, "its work outlives its lease")
		m.p.w.check.overrun(m)
	case core.DoFinish:
		m.finished(a)
	case core.DoNotify:
		m.p.w.check.notice(m, &a.Notice)
	}
}

// beat asks the machines of the process to renew together.
func (p *process) beat(first *member) {
	now := p.read().Mono
	if p.beating || len(p.members) == 1 || now-p.beaten < int64(first.cfg.RenewInterval/2) {
		return
	}
	p.beating, p.beaten = true, now
	for _, m := range p.members {
		if m != first && m.belief.Term != 0 {
			m.feed(core.Event{Kind: core.Beat})
			m.arm(now)
		}
	}
	p.beating = false
}

// believed reports whether the process would say now that the term may be relied on, by the production's comparison of clocks.
func (m *member) believed(deadline int64) bool {
	if m.p.dead || m.belief.Term == 0 {
		return false
	}
	return int64(m.p.source.Since(m.belief.Anchor, m.cfg.Margins.Safety)) < deadline
}

// remains is how long the belief goes on, by the process's own clock.
func (m *member) remains() int64 {
	return m.belief.Hard - int64(clock.Elapsed(m.belief.Anchor, m.p.read()))
}

func (m *member) want() {
	if m.wants || m.work.active || m.p.slot.has(Leaves) {
		if m.p.slot.has(Leaves) {
			m.p.w.hit(Leaves)
			m.p.w.schedule(m.p.work.upTo(2_000_000_000), event{kind: evWant, m: m})
		}
		return
	}
	m.caller++
	m.wants = true
	m.p.w.check.wants(m)
	m.step(core.Event{Kind: core.Want, Mode: m.mode, Caller: m.caller})
}
