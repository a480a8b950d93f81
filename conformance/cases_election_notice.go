package conformance

import (
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

var noticeCases = []Case{
	{Name: "a term that is resigned ends with that cause, however it is resigned", Rule: e3, run: resignations},
	{Name: "a lease that was ended by hand and taken by another ends the term as lost", Rule: e3, Waits: true, Covers: []string{"PE12", "PE17"}, run: takenLease},
	{Name: "a record that was removed ends the term as lost", Rule: e3, Waits: true, Covers: []string{"PE17", "PE21"}, run: removedRecord},
	{Name: "a leader that can't renew is told StepDownMargin before its lease ends", Rule: e3, Waits: true, Covers: []string{"PE18", "PE45"}, run: cutLeader},
	{Name: "a leader whose credentials are refused is told so", Rule: e3, Waits: true, Covers: []string{"PE61"}, run: deniedLeader},
	{Name: "a closed elector ends its term with that cause", Rule: e3, run: closedElector},
}

var releaseLastCases = []Case{
	{Name: "a lease is held and renewed until the leader's function has returned", Rule: e4, Waits: true, Covers: []string{"PE52", "IN31"}, run: longFarewell},
	{Name: "a leader whose function does not return within the grace period releases nothing", Rule: e4, Waits: true, Covers: []string{"PE52", "PE57"}, run: overrun},
	{Name: "a leader that steps down while a renewal is under way frees the election", Rule: e4, Waits: true, Covers: []string{"PE50", "PE56"}, run: resignDuringRenewal},
}

// because checks why a term has ended.
func (s *stage) because(r *reign, within time.Duration, after string, want ...error) {
	cause := s.why(r, within, after)
	for _, w := range want {
		if !errors.Is(cause, w) {
			if errors.Is(cause, elector.ErrDeadline) && !errors.Is(w, elector.ErrDeadline) {
				s.late("the term ended because of %v after %s, want %v", cause, after, w)
			}
			s.Errorf("the term ended because of %v after %s, want %v", cause, after, w)
		}
	}
}

func resignations(t *trial) {
	s := t.newStage()
	failed := errors.New("the work has failed")
	for _, way := range []struct {
		name   string
		resign func(*reign)
		causes []error
	}{
		{"Resign", func(r *reign) { s.resign(r) }, []error{elector.ErrResigned}},
		{"the end of Run's context", func(r *reign) { r.player.stop(errBored) }, []error{elector.ErrResigned, errBored}},
		{"the function's return", func(r *reign) { r.player.quit <- nil }, []error{elector.ErrResigned}},
		{"the function's failure", func(r *reign) { r.player.quit <- failed }, []error{elector.ErrResigned}},
	} {
		p := s.start(way.name)[0]
		r := s.first()
		way.resign(r)
		s.because(r, generous, way.name, way.causes...)
		err := <-p.result
		if way.name == "the function's failure" && !errors.Is(err, failed) {
			s.Errorf("Run returned %v, want the function's own %v", err, failed)
		}
		p.leave()
		s.isFree(s.b, way.name)
	}
}

// lease is a term's lease, as others may know it.
func (r *reign) lease() backend.Lease {
	return backend.Lease{Election: r.player.stage.election, Holder: r.player.id, Token: r.token.Value, Attempt: r.token.Attempt, TTL: r.player.stage.config.TTL}
}

func takenLease(t *trial) {
	s := t.newStage()
	s.start("A")
	r := s.first()
	s.release(s.b, r.lease(), backend.Handover{})
	other, err := s.b.Acquire(s.ctx, s.claim("Q"))
	if err != nil {
		t.stop(Undecided, "another candidate was not granted what was freed by hand: %v", err)
	}
	s.because(r, s.config.TTL+generous, "another has taken its lease", elector.ErrLost, backend.ErrNotHeld)
	s.nobody(s.config.TTL/2, "while another holds the lease")
	s.release(s.b, other, backend.Handover{})
	next := s.next(s.patience(), "the election is free again")
	s.above(next.token.Value, other.Token, "another's lease")
}

func removedRecord(t *trial) {
	s := t.newStage()
	s.start("A")
	r := s.first()
	s.remove()
	s.because(r, s.config.TTL+generous, "the record was removed", elector.ErrLost)
}

func cutLeader(t *trial) {
	s := t.newStage()
	s.start("A")
	r := s.first()
	s.renewed(r)
	r.player.wire.set(refusing)
	// A look at each moment that matters, beside the function's own.
	end := s.history.lastGrant(r.player.client, r.token.Attempt).replied.at.Add(s.config.TTL - s.config.StepDownMargin)
	for range 20 {
		s.waitUntil(end.Add(time.Nanosecond))
		s.look(r)
		end = end.Add(s.config.StepDownMargin / 20)
	}
	s.because(r, s.config.TTL+generous, "all renewals failed", elector.ErrDeadline)
}

func deniedLeader(t *trial) {
	s := t.newStage()
	s.start("A")
	r := s.first()
	r.player.wire.set(denying)
	s.because(r, s.config.TTL+generous, "its credentials were refused", elector.ErrDenied)
}

func closedElector(t *trial) {
	s := t.newStage()
	p := s.start("A")[0]
	r := s.first()
	if err := p.Close(); err != nil {
		s.Errorf("close of a leading elector: %v", err)
	}
	s.because(r, generous, "Close", elector.ErrClosed)
	s.isFree(s.b, "a leading elector was closed")
	if err := <-p.result; !errors.Is(err, elector.ErrClosed) {
		s.Errorf("Run of a closed elector returned %v, want %v", err, elector.ErrClosed)
	}
}

func longFarewell(t *trial) {
	s := t.newStage()
	p := s.join("A")
	p.keep()
	p.start()
	r := s.first()
	s.start("B")
	p.stop(errBored)
	s.because(r, generous, "the end of Run's context", elector.ErrResigned)
	s.nobody(s.config.TTL*5/2, "before the earlier leader's work has returned")
	p.letGo()
	s.next(s.patience(), "the work's return")
}

func overrun(t *trial) {
	s := t.newStage(func(cfg *elector.Config) { cfg.DrainTimeout = cfg.TTL / 2 })
	p := s.join("A")
	p.keep()
	p.start()
	r := s.first()
	s.start("B")
	p.stop(errBored)
	next := s.next(s.patience()+s.config.DrainTimeout, "the grace period")
	var hook instant
	s.await(generous, "OnOverrun is called for work that outlives its lease", func() bool {
		select {
		case hook = <-p.overran:
			return true
		default:
			return false
		}
	})
	s.pass(s.config.TTL / 2)
	s.stillLeads(next, "the earlier leader overran its lease")
	p.letGo()
	<-p.done
	s.pass(s.config.TTL / 4)
	s.stillLeads(next, "the earlier leader's function has returned")
	for _, c := range s.history.of(p.client, r.token.Attempt) {
		if c.op == "renew" && hook.before(c.sent) {
			s.Errorf("a lease is renewed after OnOverrun has told that it has ended")
		}
	}
}

func resignDuringRenewal(t *trial) {
	s := t.newStage()
	p := s.start("A")[0]
	r := s.first()
	p.wire.delay(s.config.AttemptTimeout / 2)
	s.renewed(r) // its reply is under way
	p.stop(errBored)
	s.because(r, generous, "the end of Run's context", elector.ErrResigned)
	<-p.done
	if calls := s.history.of(p.client, r.token.Attempt); calls[len(calls)-1].op != "release" {
		s.late("the last call of a leader that stepped down is %q, want its release", calls[len(calls)-1].op)
	}
	s.isFree(s.b, "a leader stepped down while a renewal was under way")
}
