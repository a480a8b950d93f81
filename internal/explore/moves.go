package explore

import "github.com/tenure-go/tenure/internal/core"

// next returns all states that can follow s. Where its present can't be left yet, time doesn't pass.
func (s *state) next(found []*state) []*state {
	for n := range s.flights {
		found = s.fly(n, found)
	}
	waiting := false
	for i := range s.w.Candidates {
		p := &s.processes[i]
		if p.paused {
			found = append(found, s.after("goes on", i))
			found[len(found)-1].processes[i].paused = false
			found = s.dies(i, found)
			continue
		}
		if due, ok := p.m.Due(); ok && due <= s.now(i).Mono {
			waiting = true
			c := s.after("looks at the clock", i)
			c.tell(i, core.Event{Kind: core.Tick}, nil)
			c.want(i)
			found = append(found, c)
		}
		found = s.lives(i, found)
		found = s.dies(i, found)
	}
	for n := range s.flights {
		waiting = waiting || s.overdue(n) && !s.processes[s.flights[n].who].paused
	}
	if !waiting {
		s.rest()
		c := s.after("time passes", 0)
		c.at++
		found = append(found, c)
	}
	for _, c := range found {
		c.inspect()
	}
	return found
}

// fly is what can become of a message.
func (s *state) fly(n int, found []*state) []*state {
	f := &s.flights[n]
	i, verb := int(f.who), verbs[f.asked.Kind]
	paused := s.processes[i].paused
	switch f.stage {
	case out:
		c := s.after(verb+" arrives", i)
		c.arrive(n)
		found = append(found, c)
		if s.copies > 0 && f.asked.Kind != core.DoGet {
			c = s.after(verb+" arrives, and a copy goes on", i)
			c.double(n)
			c.arrive(n)
			found = append(found, c)
		}
	case back:
		if !paused {
			c := s.after("gets the reply to its "+verb, i)
			c.replied(n)
			found = append(found, c)
		}
	case lost:
	}
	if f.stage != lost && s.losses > 0 {
		c := s.after(verb+" or its reply is lost", i)
		c.losses--
		c.flights[n].stage = lost
		c.settle(n)
		found = append(found, c)
	}
	if !paused && s.overdue(n) {
		c := s.after("gives up waiting for its "+verb, i)
		c.timeOut(n)
		found = append(found, c)
	}
	return found
}

// lives is what a process can do by itself.
func (s *state) lives(i int, found []*state) []*state {
	p := &s.processes[i]
	if p.wake {
		c := s.after("is told of a change", i)
		c.processes[i].wake = false
		c.tell(i, core.Event{Kind: core.Woken, Request: p.watch}, nil)
		found = append(found, c)
	}
	if p.term != 0 {
		c := s.after("has its work return", i)
		c.workReturns(i)
		found = append(found, c)
	}
	if p.m.State() == core.Leading {
		c := s.after("resigns", i)
		c.tell(i, core.Event{Kind: core.Resign, Term: p.term}, nil)
		found = append(found, c)
	}
	return found
}

// dies is what can be done to a process.
func (s *state) dies(i int, found []*state) []*state {
	if s.crashes > 0 {
		c := s.after("crashes and starts again", i)
		c.crash(i)
		found = append(found, c)
	}
	if s.pauses > 0 && !s.processes[i].paused {
		c := s.after("is stopped", i)
		c.pauses--
		c.processes[i].paused = true
		found = append(found, c)
	}
	return found
}
