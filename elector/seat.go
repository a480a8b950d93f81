package elector

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/internal/core"
)

// campaign begins to campaign, for a run. Callers hold the group's mutex.
func (s *seat) campaign(r *groupRun) {
	r.seats.Add(1)
	s.run = r
	s.waiter.id, s.waiter.values = r.number, r.ctx
	g := s.group
	g.loop.post(posted{member: &s.member, waiter: &s.waiter, event: core.Event{Kind: core.Want, Mode: core.Serve, Caller: s.waiter.id}})
}

// leave ends the campaign. What it returns is closed then. Callers hold the group's mutex.
func (s *seat) leave(cause error) <-chan struct{} {
	if s.over == nil {
		s.over = make(chan struct{})
	}
	s.group.loop.post(posted{member: &s.member, event: core.Event{Kind: core.Unwant, Caller: s.waiter.id, Err: cause}})
	return s.over
}

// tell implements caller. It runs on the loop's goroutine.
func (s *seat) tell(o outcome) {
	g := s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.term == nil {
		s.ended(o.err)
		return
	}
	s.term = o.term
	if s.run.lead == nil {
		o.term.held = true
		return
	}
	r := s.run
	r.seats.Go(func() { s.work(r, o.term) })
}

// ended notes that the campaign is over. Callers hold the group's mutex.
func (s *seat) ended(err error) {
	g, r := s.group, s.run
	s.run, s.term = nil, nil
	if s.over != nil {
		close(s.over)
		s.over = nil
	}
	if r.ctx.Err() == nil && g.seats[s.member.election] == s { // nobody has asked for it: its work is done, or the store can't ever grant it
		delete(g.seats, s.member.election)
		g.loop.tell(Event{Kind: Left, Time: time.Now(), Election: s.member.election, Err: err})
	}
	r.seats.Done()
}

// work runs the user's function for one term.
func (s *seat) work(r *groupRun, t *Term) {
	returned := false
	defer func() {
		if !returned { // a panic goes on when the lease was given back
			s.group.mu.Lock()
			over := s.leave(errPanicked)
			s.group.mu.Unlock()
			t.returned(nil)
			<-over
		}
	}()
	var err error
	if r.ctx.Err() == nil { // else elected in the last moment: nothing is to be done under it
		err = r.lead(t.Context(), t)
	}
	returned = true
	t.returned(err)
}

// begin starts a run.
func (g *Group) begin(ctx context.Context, lead func(context.Context, *Term) error) (*groupRun, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, ErrClosed
	case g.run != nil:
		return nil, ErrBusy
	}
	g.runs++
	running, cancel := context.WithCancelCause(ctx)
	r := &groupRun{ctx: running, cancel: cancel, lead: lead, number: g.runs}
	g.run = r
	for _, s := range g.seats {
		s.campaign(r)
	}
	if g.cfg.Balance {
		r.balance.Go(func() { g.keepBalance(running) })
	}
	return r, nil
}

// end ends a run and waits for everything that it has begun.
func (g *Group) end(r *groupRun) {
	cause := context.Cause(r.ctx)
	g.mu.Lock()
	for _, s := range g.seats {
		if s.run == r {
			s.leave(cause)
		}
	}
	g.mu.Unlock()
	r.seats.Wait()
	r.balance.Wait()
	r.cancel(nil)
	g.mu.Lock()
	g.run = nil
	g.mu.Unlock()
	g.loop.settle()
}

// Close ends a Run as the end of its context would, refuses later ones and returns when nothing of the group is left running. The store stays open. A second call waits as well and returns nil. It must not be
// called by a leader's function or by Events, for whose end it waits.
func (g *Group) Close() error {
	g.mu.Lock()
	g.closed = true
	if g.run != nil {
		g.run.cancel(ErrClosed)
	}
	g.mu.Unlock()
	<-g.loop.idle()
	<-g.loop.relay.drained()
	return nil
}
