package conformance

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

var successionCases = []Case{
	{Name: "a crashed leader is succeeded when its lease has run out", Rule: e5, Waits: true, Covers: []string{"PE13", "PE14", "EC63"}, run: crashSuccession},
	{Name: "a leader that crashed before anybody else came is succeeded when its lease has run out", Rule: e5, Waits: true, Covers: []string{"PE13", "PE14"}, run: lateComer},
	{Name: "a leader that resigns is succeeded without waiting for its TTL", Rule: e5, Covers: []string{"PE5", "PE6", "EC57", "R60"}, run: handOvers},
}

var enduranceCases = []Case{
	{Name: "outages shorter than the elector says cost no leadership", Rule: e6, Waits: true, Covers: []string{"PE36", "PE37", "PE38"}, run: shortOutages},
	{Name: "after an outage longer than the lease one candidate leads again", Rule: e6, Waits: true, Covers: []string{"PE44"}, run: longOutage},
	{Name: "a lone candidate leads again after an outage", Rule: e6, Waits: true, Covers: []string{"PE44"}, run: loneCandidate},
	{Name: "no look is true from the deadlines on, whatever the elector was doing", Rule: e7, Waits: true, Covers: []string{"PE30", "PE45"}, run: looksAtDeadlines},
}

func crashSuccession(t *trial) {
	s := t.newStage()
	s.start("A")
	old := s.first()
	s.ready(s.start("B", "C")...)
	s.renewed(old)
	crashed := time.Now()
	old.player.wire.set(blackHole)
	s.next(s.patience(), "the leader's crash")
	s.Logf("a crashed leader was succeeded after %v, TTL %v", time.Since(crashed).Round(time.Millisecond), s.config.TTL)
}

func lateComer(t *trial) {
	s := t.newStage()
	c := s.brief("P")
	c.TTL = s.config.TTL
	s.grant(s.a, c) // and is never heard of again
	s.start("A")
	s.next(s.patience(), "the holder's crash")
}

// ready waits until candidates follow: they have looked and wait.
func (s *stage) ready(players ...*player) {
	for _, p := range players {
		s.await(generous, "a candidate looks who leads", func() bool { return p.wire.asked("get", "acquire") > 0 })
	}
	s.pass(s.step())
}

// promptStage is one where nothing can be reached by waiting for a TTL, if the store wakes followers.
func (t *trial) promptStage() *stage {
	return t.newStage(func(cfg *elector.Config) {
		if t.limits.WakeUp != backend.Timed {
			cfg.TTL = t.long
		}
	})
}

func handOvers(t *trial) {
	if t.limits.WakeUp == backend.Timed {
		t.stop(NotClaimed, "Limits.WakeUp is %q: followers wait for the lease's end", t.limits.WakeUp)
	}
	s := t.promptStage()
	s.start("A")
	last := s.first()
	var took []time.Duration
	for i := range 10 {
		s.ready(s.start(fmt.Sprint("B", i))...)
		resigned := time.Now()
		s.resign(last)
		last = s.next(generous, fmt.Sprintf("resignation %d, while another waits", i+1))
		took = append(took, time.Since(resigned))
	}
	slices.Sort(took)
	s.Logf("ten hand-overs took %v at the median and %v at most", took[5].Round(time.Microsecond), took[9].Round(time.Microsecond))
}

func shortOutages(t *trial) {
	s := t.newStage()
	s.start("A")
	r := s.first()
	s.ready(s.start("B")...)
	for i, by := range []weather{blackHole, refusing, replyLoss, heldBack, denying} {
		s.renewed(r)
		s.pass(s.config.RenewInterval * time.Duration(i) / 6)
		r.player.wire.set(by)
		s.pass(s.timing.OutageSurvived * 3 / 4)
		r.player.wire.set(fair)
		s.renewed(r)
		s.stillLeads(r, fmt.Sprintf("outage %d", i+1))
	}
	s.nobody(s.step(), "although the leader endured")
}

func longOutage(t *trial) {
	s := t.newStage()
	players := s.start("A", "B", "C")
	old := s.first()
	for i, p := range players {
		p.wire.set([]weather{blackHole, refusing, heldBack}[i])
	}
	s.nobody(3*s.config.TTL, "while nobody reaches the store")
	if old.player.Leading() {
		s.Errorf("a leader without a store still leads after three TTLs")
	}
	for _, p := range players {
		p.wire.set(fair)
	}
	next := s.next(s.patience()+s.config.TTL, "the store's return")
	s.above(next.token.Value, old.token.Value, "an outage")
}

func loneCandidate(t *trial) {
	s := t.newStage()
	p := s.start("A")[0]
	s.first()
	for _, by := range []weather{refusing, blackHole} {
		p.wire.set(by)
		s.nobody(2*s.config.TTL, "without a store")
		p.wire.set(fair)
		s.next(s.patience()+s.config.TTL, "the store's return")
	}
}

// looksAtDeadlines looks in the very moment in which belief ends, when no timer of the elector can have run before for certain.
func looksAtDeadlines(t *trial) {
	s := t.newStage()
	p := s.join("A")
	p.keep()
	p.start()
	r := s.first()
	s.renewed(r)
	p.wire.set(heldBack)
	sent := s.history.lastGrant(p.client, r.token.Attempt).sent.at
	looks := make(chan struct{})
	moments := []time.Duration{s.timing.CancelAfter, s.timing.BelieveFor, s.config.TTL, 2 * s.config.TTL}
	for _, m := range moments {
		for range 20 {
			time.AfterFunc(time.Until(sent.Add(m)), func() { s.look(r); looks <- struct{}{} })
		}
	}
	for range 20 * len(moments) {
		<-looks
	}
	p.wire.set(fair)
	p.letGo()
	if r.Valid() {
		s.Errorf("a term is valid after its candidate was cut off for two TTLs")
	}
}
