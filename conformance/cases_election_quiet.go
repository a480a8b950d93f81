package conformance

import (
	"cmp"
	"fmt"
)

var observerCases = []Case{
	{Name: "an observer sees each leader and that nobody leads, in order", Rule: e8, Covers: []string{"EC22"}, run: observed},
	{Name: "an observer that was cut off knows the present leader when it is back", Rule: e8, Waits: true, Covers: []string{"EC22", "EC23"}, run: observerCutOff},
	{Name: "an observer sees that a crashed leader leads no more", Rule: e8, Waits: true, run: observedCrash},
	{Name: "a slow observer delays nobody, and sees the present leader next", Rule: e8, Waits: true, Covers: []string{"PE6", "EC71"}, run: slowObserver},
}

var quietCases = []Case{
	{Name: "a leader and its idle follower ask the store as often as they may", Rule: e9, Waits: true, run: quietCandidates},
	{Name: "candidates do not flood a store that is away", Rule: e9, Waits: true, Covers: []string{"PE44"}, run: quietOutage},
	{Name: "a leader and its idle followers ask the server as often as they may", Rule: e9, Alone: true, run: quietServer},
}

func observed(t *trial) {
	s := t.promptStage()
	watching := s.join("W")
	w := s.observe(watching, nil)
	w.knowsNobody()
	for i := range 4 {
		p := s.start(fmt.Sprint("A", i))[0]
		r := s.first()
		w.knows(r)
		p.leave()
		w.knowsNobody()
	}
}

func observerCutOff(t *trial) {
	s := t.newStage()
	watching := s.join("W")
	w := s.observe(watching, nil)
	w.knowsNobody()
	s.start("A")
	old := s.first()
	w.knows(old)
	watching.wire.set(blackHole)
	s.start("B")
	s.resign(old)
	next := s.next(s.patience(), "a resignation")
	s.pass(s.config.TTL)
	watching.wire.set(fair)
	w.knows(next)
}

func observedCrash(t *trial) {
	s := t.newStage()
	w := s.observe(s.join("W"), nil)
	s.start("A")
	r := s.first()
	w.knows(r)
	r.player.wire.set(blackHole)
	if !t.watched() { // else a lease ends by a challenger alone
		w.knowsNobody()
	}
	s.start("B")
	w.knows(s.next(s.patience(), "a crash"))
}

func slowObserver(t *trial) {
	s := t.newStage()
	p := s.start("A")[0]
	r := s.first()
	slow := make(chan struct{})
	w := s.observe(p, slow) // through the leader's own elector
	w.knows(r)
	s.pass(s.config.TTL * 3 / 2)
	s.stillLeads(r, "an observer of its elector was slow")
	for i := range 3 {
		s.ready(s.start(fmt.Sprint("B", i))...)
		s.resign(r)
		r = s.next(s.patience(), "a resignation while an observer is slow")
	}
	close(slow)
	w.knows(r)
	if seen := len(w.seen); seen > 3 {
		s.Logf("the slow observer was told of %d changes", seen)
	}
}

// allowed is how many requests an idle follower and a leader may make within n TTLs.
func (s *stage) allowed(n int) (follower, leader float64) {
	perTTL := cmp.Or(s.limits.FollowerRequests, 1.25)
	return perTTL*float64(n) + 1, float64(n)*float64(s.config.TTL)/float64(s.config.RenewInterval) + 1
}

func quietCandidates(t *trial) {
	const n = 6
	s := t.newStage()
	s.start("A")
	r := s.first()
	follower := s.start("B")[0]
	s.ready(follower)
	s.pass(s.config.TTL) // at rest
	askedL, askedF := r.player.wire.asked(), follower.wire.asked()
	s.pass(n * s.config.TTL)
	leads, follows := float64(r.player.wire.asked()-askedL), float64(follower.wire.asked()-askedF)
	s.stillLeads(r, "nothing at all")
	mostF, mostL := s.allowed(n)
	s.Logf("requests to the store per TTL: leader %.2f, idle follower %.2f", leads/n, follows/n)
	if leads > mostL {
		s.late("a leader made %.0f requests to the store in %d TTLs, want %.0f at most", leads, n, mostL)
	}
	if follows > mostF {
		s.late("an idle follower made %.0f requests to the store in %d TTLs, want %.0f at most", follows, n, mostF)
	}
}

func quietOutage(t *trial) {
	const n, most = 4, 20 // per TTL: nobody means more than some retries
	s := t.newStage()
	players := s.start("A", "B")
	s.first()
	s.ready(players...)
	for _, by := range []weather{refusing, blackHole} {
		var before []int
		for _, p := range players {
			p.wire.set(by)
			before = append(before, p.wire.asked())
		}
		s.nobody(n*s.config.TTL, "without a store")
		for i, p := range players {
			asked := p.wire.asked() - before[i]
			s.Logf("requests per TTL while the store is away: %.2f", float64(asked)/n)
			if asked > n*most {
				s.Errorf("a candidate made %d requests in %d TTLs while the store was away, want %d at most", asked, n, n*most)
			}
		}
	}
}

// quietServer counts at the server, where what the store does by itself counts too.
func quietServer(t *trial) {
	const n, followers = 5, 3
	if t.suite.Serverless && t.suite.Requests == nil {
		t.stop(NotClaimed, "the store has no server")
	}
	if t.suite.Requests == nil {
		t.stop(Untested, "Suite.Requests is not set")
	}
	s := t.newStage()
	count := func() float64 {
		before := t.suite.Requests(opener{t})
		t.suite.Requests(opener{t}) // costs what one look costs
		own := t.suite.Requests(opener{t}) - before
		began := t.suite.Requests(opener{t})
		s.pass(n * s.config.TTL)
		return float64(t.suite.Requests(opener{t})-began) - float64(own)/2
	}
	s.pass(s.config.TTL)
	rest := count()
	r := s.lead("A")
	leader := count() - rest
	waiting := make([]*player, followers)
	for i := range waiting {
		waiting[i] = s.start(fmt.Sprint("B", i))[0]
	}
	s.ready(waiting...)
	s.pass(s.config.TTL)
	follower := (count() - rest - leader) / followers
	s.stillLeads(r, "nothing at all")
	mostF, mostL := s.allowed(n)
	s.Logf("requests to the server per TTL: leader %.2f, idle follower %.2f, two clients at rest %.2f", leader/n, follower/n, rest/n)
	mostL *= float64(max(1, s.limits.RenewRequests)) // one renewal more than the time has room for
	if leader > mostL {
		s.late("a leader costs the server %.0f requests in %d TTLs, want %.0f at most", leader, n, mostL)
	}
	if follower > mostF {
		s.late("an idle follower costs the server %.1f requests in %d TTLs, want %.1f at most", follower, n, mostF)
	}
}

// lead has one candidate elected and waits until it is at rest.
func (s *stage) lead(name string) *reign {
	s.start(name)
	r := s.first()
	s.renewed(r)
	return r
}
