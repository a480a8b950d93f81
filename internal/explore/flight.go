package explore

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// stage says where a request is.
type stage uint8

const (
	out  stage = iota // on its way to the store
	back              // answered; the reply is on its way
	lost              // nothing is on its way, and the sender doesn't know
)

// flight is a request from its sending until nothing is left of it.
type flight struct {
	who     int8
	stage   stage
	awaited bool // the sender has no reply yet
	sent    int64
	asked   *core.Action
	reply   *core.Event
}

var replies = map[core.ActionKind]core.EventKind{
	core.DoGet: core.GotRecord, core.DoAcquire: core.Acquired, core.DoRenew: core.Renewed, core.DoRelease: core.Released,
}

var verbs = map[core.ActionKind]string{core.DoGet: "look", core.DoAcquire: "claim", core.DoRenew: "renewal", core.DoRelease: "release"}

// travelling is how many messages are on their way.
func (s *state) travelling() (n int) {
	for i := range s.flights {
		if s.flights[i].stage != lost {
			n++
		}
	}
	return n
}

func (s *state) send(i int, a *core.Action) {
	f := flight{who: int8(i), awaited: true, sent: s.at, asked: a}
	if s.travelling() >= s.w.Messages {
		f.stage = lost
	}
	s.flights = append(s.flights, f)
}

// settle forgets flight n when nothing is left of it.
func (s *state) settle(n int) {
	f := &s.flights[n]
	if f.stage == back && !f.awaited {
		f.stage = lost
	}
	if f.stage == out && !f.awaited && f.asked.Kind == core.DoGet {
		f.stage = lost
	}
	if f.stage == lost && !f.awaited {
		s.flights = append(s.flights[:n], s.flights[n+1:]...)
	}
}

// arrive has the store perform request n.
func (s *state) arrive(n int) {
	f := &s.flights[n]
	reply := core.Event{Kind: replies[f.asked.Kind], Request: f.asked.Request}
	s.perform(f, &reply)
	f.stage, f.reply = back, &reply
	s.settle(n)
}

// double leaves a copy of request n on its way.
func (s *state) double(n int) {
	s.copies--
	again := s.flights[n]
	again.awaited = false
	s.flights = append(s.flights, again)
}

// perform applies the contract's rules.
func (s *state) perform(f *flight, reply *core.Event) {
	a, c, before := f.asked, s.clock(), s.entry
	switch a.Kind {
	case core.DoGet:
		reply.Record = s.entry.Record("e", c)
	case core.DoAcquire:
		reply.Lease, reply.Err = s.entry.Acquire(a.Claim, c)
		if s.entry.Counter != before.Counter {
			s.granted(a)
			s.changed()
		}
	case core.DoRenew:
		reply.Lease, reply.Err = s.entry.Renew(a.Lease, c)
	case core.DoRelease:
		var changed bool
		if changed, reply.Err = s.entry.Release(a.Lease, a.Handover, c); changed {
			s.changed()
		}
	default:
	}
}

func (s *state) changed() {
	for i := range s.w.Candidates {
		s.processes[i].wake = true
	}
}

// replied tells the sender of flight n what came back.
func (s *state) replied(n int) {
	f := s.flights[n]
	e := *f.reply
	e.Sent = reading(f.sent, s.processes[f.who].rate)
	s.flights[n].awaited = false
	s.settle(n)
	s.tell(int(f.who), e, f.asked)
	s.want(int(f.who))
}

// overdue reports that the sender of flight n has waited long enough.
func (s *state) overdue(n int) bool {
	f := &s.flights[n]
	rate := s.processes[f.who].rate
	return f.awaited && int64(clock.Elapsed(reading(f.sent, rate), reading(s.at, rate))) >= f.asked.Timeout
}

var errTimeout = fmt.Errorf("no reply: %w", context.DeadlineExceeded)

// timeOut tells the sender of flight n that no reply came. The request may still arrive.
func (s *state) timeOut(n int) {
	f := s.flights[n]
	s.flights[n].awaited = false
	s.settle(n)
	s.tell(int(f.who), core.Event{
		Kind: replies[f.asked.Kind], Request: f.asked.Request, Sent: reading(f.sent, s.processes[f.who].rate), Err: errTimeout,
	}, f.asked)
	s.want(int(f.who))
}
