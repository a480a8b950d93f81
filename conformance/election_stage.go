package conformance

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// stage is where an election case plays: candidates on stores and wires of their own, and what their terms and observers showed.
type stage struct {
	*trial
	config elector.Config // of every candidate, but for its store and name; resolved
	timing elector.Timing
	began  chan *reign // each term, as it begins

	shown    sync.Mutex
	players  []*player
	reigns   []*reign
	watchers []*watcher
	idle     time.Duration // the longest that this process did not run
}

// newStage chooses the shortest TTL that the suite, the store and the elector's own rules permit.
func (t *trial) newStage(change ...func(*elector.Config)) *stage {
	cfg := elector.Config{Store: t.a, Election: t.election, Logger: slog.New(slog.DiscardHandler), TTL: max(t.ttl, t.limits.MinTTL)}
	for cfg.Validate() != nil && cfg.TTL < t.limits.MaxTTL {
		cfg.TTL = min(cfg.TTL+cfg.TTL/8, t.limits.MaxTTL)
	}
	for _, f := range change {
		f(&cfg)
	}
	e, err := elector.New(cfg)
	if err != nil {
		t.stop(Untested, "no configuration of the elector suits this store: %v", err)
	}
	s := &stage{trial: t, config: e.Config(), timing: e.Config().Timing(), began: make(chan *reign, 1000)}
	t.stage = s
	s.feelPulse()
	return s
}

// feelPulse notices when this process doesn't get to run: what happens late then is nobody's fault.
func (s *stage) feelPulse() {
	const beat = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(s.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for last := time.Now(); ctx.Err() == nil; {
			pause(ctx, beat)
			now := time.Now()
			s.shown.Lock()
			s.idle = max(s.idle, now.Sub(last)-beat)
			s.shown.Unlock()
			last = now
		}
	}()
	s.Cleanup(func() { cancel(); <-done })
}

// slowness is the longest that this process stood still or a call to the store took.
func (s *stage) slowness() time.Duration {
	s.shown.Lock()
	defer s.shown.Unlock()
	slowest := s.idle
	for _, p := range s.players {
		p.wire.mu.Lock()
		slowest = max(slowest, p.wire.slowest)
		p.wire.mu.Unlock()
	}
	return slowest
}

// late ends the case: something did not happen, or something happened that costs time alone. Where machine or store were slow, that says nothing.
func (s *stage) late(format string, args ...any) {
	if d := s.slowness(); d > s.config.AttemptTimeout/8 {
		s.stop(Undecided, "the machine was too slow: it stood still, or a call took, for %v", d.Round(time.Millisecond))
	}
	s.Fatalf(format, args...)
}

// join adds a candidate, which does nothing yet.
func (s *stage) join(name string) *player {
	store := s.open()
	p := &player{
		stage: s, id: s.id(name), client: store.client, wire: newWire(store),
		hold: make(chan struct{}), quit: make(chan error, 1), overran: make(chan instant, 1), result: make(chan error, 100),
	}
	close(p.hold)
	cfg := s.config
	cfg.Store = p.wire
	cfg.Candidate = backend.Candidate{ID: p.id, Description: backend.Description{App: "conformance"}}
	cfg.OnOverrun = func(elector.Overrun) {
		select {
		case p.overran <- s.history.now():
		default:
		}
	}
	build := s.suite.elect
	if build == nil {
		build = newGenuine
	}
	c, err := build(cfg)
	if err != nil {
		s.stop(Untested, "no configuration of the elector suits this store: %v", err)
	}
	p.candidate = c
	s.shown.Lock()
	s.players = append(s.players, p)
	s.shown.Unlock()
	s.Cleanup(p.leave)
	return p
}

// start adds candidates that campaign until they are told otherwise.
func (s *stage) start(names ...string) []*player {
	var started []*player
	for _, name := range names {
		p := s.join(name)
		p.start()
		started = append(started, p)
	}
	return started
}

// patience is how long a free or abandoned election may stay without a leader.
func (s *stage) patience() time.Duration {
	wait := s.config.TTL + s.limits.ExpiryLag + generous
	if s.watched() {
		wait += s.config.TTL
	}
	return wait
}

// next waits for the next term.
func (s *stage) next(within time.Duration, after string) *reign {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case r := <-s.began:
		return r
	case <-timer.C:
		s.late("nobody leads %v after %s", within, after)
	case <-s.ctx.Done():
		s.stop(Undecided, "%v", context.Cause(s.ctx))
	}
	return nil
}

// first waits for the first leader.
func (s *stage) first() *reign { return s.next(s.patience(), "the start") }

// nobody lets d pass, in which no term may begin.
func (s *stage) nobody(d time.Duration, while string) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case r := <-s.began:
		s.late("%s leads under token %d %s", r.player.id, r.token.Value, while)
	case <-timer.C:
	case <-s.ctx.Done():
		s.stop(Undecided, "%v", context.Cause(s.ctx))
	}
}

// await polls until ok, and fails when that takes too long.
func (s *stage) await(within time.Duration, what string, ok func() bool) {
	for until := time.Now().Add(within); !ok(); s.wait(min(s.step(), 5*time.Millisecond)) {
		if time.Now().After(until) {
			s.late("not within %v: %s", within, what)
		}
	}
}

// isFree checks that a leader which stepped down has left nothing behind.
func (s *stage) isFree(store backend.LeaseStore, after string) {
	if r := s.get(store); r.Held() {
		s.late("after %s the election is %v, want it free", after, r)
	}
}
