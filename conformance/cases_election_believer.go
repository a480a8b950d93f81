package conformance

import "time"

var believerCases = []Case{
	{Name: "a leader whose link is a black hole stops believing before another leads", Rule: e1, Waits: true, Covers: []string{"PE9", "PE16", "PE24", "PE45", "EC1", "EC26", "EC43"}, run: func(t *trial) {
		t.severed(blackHole)
	}},
	{Name: "a leader whose replies are lost stops believing before another leads", Rule: e1, Waits: true, Covers: []string{"PE41", "EC33"}, run: func(t *trial) { t.severed(replyLoss) }},
	{Name: "a leader whose replies were late stops believing before another leads", Rule: e1, Waits: true, Covers: []string{"DX1", "R11"}, run: lateReplies},
	{Name: "a leader whose calls are held back does not lead when they arrive after another's term has begun", Rule: e1, Waits: true, Covers: []string{"PE18", "PE46", "DX4"}, run: heldCalls},
	{Name: "candidates in changing weather have one leader at a time, and one in the end", Rule: e1, Waits: true, Covers: []string{"PE16", "PE24"}, run: changingWeather},
	{Name: "tokens of terms grow over ten hand-overs", Rule: e2, run: tenHandOvers},
	{Name: "tokens of terms grow over crashes", Rule: e2, Waits: true, Covers: []string{"PE24"}, run: crashes},
	{Name: "tokens of terms grow when the record is removed", Rule: e2, Waits: true, Covers: []string{"PE21", "R19"}, run: removals},
	{Name: "a claim whose fate is unknown is not made again after another has led", Rule: e2, Waits: true, Covers: []string{"DX10"}, run: unknownClaim},
}

// severed lets the weather cut the leader off for good.
func (t *trial) severed(by weather) {
	s := t.newStage()
	s.start("A", "B", "C")
	old := s.first()
	old.player.wire.set(by)
	successor := s.next(s.patience()+s.config.TTL, "the leader was cut off") // requests that arrive extend the lease until it steps down
	s.pass(s.config.TTL / 4)
	old.player.wire.set(fair)
	s.pass(s.config.TTL / 2) // what is on its way arrives
	s.stillLeads(successor, "the old leader is back")
}

// pass lets d pass while everybody looks.
func (s *stage) pass(d time.Duration) { s.wait(d) }

// stillLeads checks that nothing has ended r.
func (s *stage) stillLeads(r *reign, after string) {
	if r.ctx.Err() != nil || !r.player.Leading() {
		s.late("%s, which leads under token %d, does not lead any more after this: %s", r.player.id, r.token.Value, after)
	}
}

// renewed waits for the next renewal that the store grants.
func (s *stage) renewed(r *reign) {
	before := s.history.now()
	s.await(s.config.TTL+generous, "the leader's lease is renewed", func() bool {
		last := s.history.lastGrant(r.player.client, r.token.Attempt)
		return last != nil && before.before(last.replied)
	})
}

func lateReplies(t *trial) {
	s := t.newStage()
	s.start("A", "B")
	old := s.first()
	old.player.wire.delay(s.config.AttemptTimeout * 7 / 8)
	s.renewed(old)
	s.renewed(old)
	old.player.wire.set(blackHole) // the reply that is on its way arrives, late
	s.next(s.patience(), "the leader was cut off")
}

func heldCalls(t *trial) {
	s := t.newStage()
	s.start("A", "B")
	old := s.first()
	old.player.wire.set(heldBack)
	successor := s.next(s.patience(), "the leader's calls were held back")
	old.player.wire.set(fair)
	s.pass(s.config.TTL / 2)
	s.stillLeads(successor, "the earlier leader's renewals have arrived")
	s.nobody(s.config.TTL/2, "although the leader is well")
}

func changingWeather(t *trial) {
	s := t.newStage()
	var players []*player
	for i := range 4 {
		p := s.join(rival(i))
		p.again, p.brief = true, s.config.TTL/4+t.jitter(s.config.TTL)
		players = append(players, p)
	}
	for _, p := range players {
		p.start()
	}
	s.first()
	for until := time.Now().Add(4 * s.config.TTL); time.Now().Before(until); {
		s.pass(t.jitter(s.config.TTL / 4))
		players[t.jitter(time.Duration(len(players)))].wire.set(weather(t.jitter(allWeather)))
	}
	for _, p := range players {
		p.wire.set(fair)
	}
	healed := s.history.now()
	for !healed.before(s.next(s.patience()+s.config.TTL, "the store is back for all").began) { // a claim that was given up may hold the election for one TTL
	}
}

// resign makes a leader step down, and waits until its function has returned.
func (s *stage) resign(r *reign) {
	if err := r.Resign(s.ctx); err != nil {
		s.Errorf("resign: %v", err)
	}
	s.await(generous, "the leader's function returns", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.returned.seq != 0
	})
}

func tenHandOvers(t *trial) {
	s := t.newStage()
	for _, name := range []string{"A", "B", "C"} {
		p := s.join(name)
		p.again = true
		p.start()
	}
	last := s.first()
	for range 10 {
		s.resign(last)
		next := s.next(s.patience(), "a resignation")
		s.above(next.token.Value, last.token.Value, "a hand-over")
		last = next
	}
}

func crashes(t *trial) {
	s := t.newStage()
	s.start("A")
	last := s.first()
	for _, name := range []string{"B", "C"} {
		s.start(name)
		last.player.wire.set(blackHole) // for good
		next := s.next(s.patience(), "a crash")
		s.above(next.token.Value, last.token.Value, "a crash")
		last = next
	}
}

// remove deletes the record by hand.
func (s *stage) remove() {
	if s.suite.Remove == nil {
		s.stop(Untested, "Suite.Remove is not set")
	}
	s.history.add(call{op: "remove", election: s.election, sent: s.history.now()})
	s.suite.Remove(opener{s.trial}, s.election)
}

func removals(t *trial) {
	s := t.newStage()
	if t.suite.Remove == nil {
		t.stop(Untested, "Suite.Remove is not set")
	}
	s.start("A")
	last := s.first()
	for range 2 {
		s.remove()
		next := s.next(s.patience()+s.config.TTL, "the record was removed")
		s.above(next.token.Value, last.token.Value, "a removed record")
		last = next
	}
}

// unknownClaim lets A be granted the election without its knowing, and lets that lease end. When A is back, its attempt is spent.
func unknownClaim(t *trial) {
	s := t.newStage()
	a := s.join("A")
	a.wire.silence("acquire")
	a.start()
	s.await(s.patience(), "A's claim is granted", func() bool { return s.get(s.b).Held() })
	a.wire.set(blackHole)
	s.start("B")
	other := s.next(s.patience(), "a claim that nobody knows of")
	a.wire.silence("")
	a.wire.set(fair)
	s.ready(a)
	s.renewed(other)
	s.resign(other)
	s.next(s.patience(), "a resignation") // that the attempt is a new one, the history tells
}
