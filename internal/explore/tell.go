package explore

import (
	"github.com/tenure-go/tenure/internal/core"
)

// tell takes an event into process i's machine and does what it says. The watch answers at once: what is late about it is the telling of changes.
func (s *state) tell(i int, e core.Event, asked *core.Action) {
	p := &s.processes[i]
	p.m = p.m.Clone()
	s.drawn++
	in := core.Input{Now: s.now(i), Rand: [2]uint64{theRandom, s.drawn}, Event: e}
	if s.w.Bug.In != nil {
		s.w.Bug.In(&in, asked)
	}
	actions := p.m.Step(in)
	if s.w.Bug.Out != nil {
		actions = s.w.Bug.Out(actions)
	}
	opens := false
	for n := range actions {
		a := &actions[n]
		switch a.Kind {
		case core.DoGet, core.DoAcquire, core.DoRenew, core.DoRelease:
			s.sends(i, a)
			s.send(i, a)
		case core.DoOpenWatch:
			p.watch, opens = a.Request, true
		case core.DoCloseWatch:
			p.watch, opens = 0, false
		case core.DoBelieve:
			p.belief = a.Belief
			s.believed(i)
		case core.DoBegin:
			s.begin(i, a)
		case core.DoEndWork:
			p.told = true
		case core.DoFinish:
			p.finished = true
		default:
		}
	}
	if opens {
		s.tell(i, core.Event{Kind: core.WatchOpened, Request: p.watch}, nil)
	}
	if p.watch == 0 || opens {
		p.wake = false
	}
}

// begin starts the work of a term.
func (s *state) begin(i int, a *core.Action) {
	p := &s.processes[i]
	if a.Lease.Token <= s.begun {
		s.breaks("a term begins under token %d after one under %d", a.Lease.Token, s.begun)
	}
	s.begun = max(s.begun, a.Lease.Token)
	p.term, p.token, p.attempt, p.told = a.Term, a.Lease.Token, a.Lease.Attempt, false
}

// workReturns ends the work of process i, by itself or because it was told to.
func (s *state) workReturns(i int) {
	p := &s.processes[i]
	term := p.term
	p.term, p.token = 0, 0
	s.tell(i, core.Event{Kind: core.WorkReturned, Term: term}, nil)
	s.want(i)
}

// crash ends process i and starts another in its place. Its requests that are on their way stay there.
func (s *state) crash(i int) {
	s.crashes--
	for n := len(s.flights) - 1; n >= 0; n-- {
		if f := &s.flights[n]; int(f.who) == i {
			f.awaited = false
			s.settle(n)
		}
	}
	s.processes[i].life++
	s.start(i)
}

// sends checks what a process asks of the store.
func (s *state) sends(i int, a *core.Action) {
	p := &s.processes[i]
	switch {
	case a.Kind == core.DoRelease && p.term != 0 && a.Lease.Token == p.token:
		s.breaks("%s releases token %d before its work has returned", name(i, p.life), p.token)
	case a.Kind == core.DoRenew && p.term == 0 && a.Lease.Attempt == p.attempt:
		s.breaks("%s renews after its work has returned", name(i, p.life))
	case a.Kind == core.DoAcquire && p.term != 0:
		s.breaks("%s claims while its work runs", name(i, p.life))
	case a.Kind == core.DoAcquire && a.Claim.Attempt == p.attempt:
		s.breaks("%s claims with an attempt that has had its term", name(i, p.life))
	}
}

// granted checks a grant of the store.
func (s *state) granted(a *core.Action) {
	for i := range s.w.Candidates {
		if a.Claim.Attempt == s.processes[i].attempt {
			s.breaks("the attempt of %s is granted a second time, with token %d", a.Claim.Candidate.ID, s.entry.Token)
		}
	}
}

// believed checks a belief that was just published: an overlap can begin only here.
func (s *state) believed(i int) {
	if !s.believes(i) {
		return
	}
	for j := range s.w.Candidates {
		if j != i && s.believes(j) {
			s.breaks("%s and %s believe at once", name(i, s.processes[i].life), name(j, s.processes[j].life))
		}
	}
}

// inspect checks what may break at any moment.
func (s *state) inspect() {
	for i := range s.w.Candidates {
		p := &s.processes[i]
		if !s.w.Unheard && s.believes(i) && (s.entry.Attempt != p.attempt || !s.entry.Live(s.clock())) {
			s.breaks("%s believes longer than the store", name(i, p.life))
		}
	}
}

// rest checks what holds when everybody has done what was due.
func (s *state) rest() {
	for i := range s.w.Candidates {
		p := &s.processes[i]
		if p.paused || s.believes(i) {
			continue
		}
		if p.m.State() == core.Leading {
			s.breaks("%s leads without a belief", name(i, p.life))
		}
		if p.term != 0 && !p.told {
			s.breaks("the work of %s was not told that its time is over", name(i, p.life))
		}
	}
}
