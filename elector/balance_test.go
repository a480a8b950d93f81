package elector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// shift follows who works in which election, and for how long nobody does.
type shift struct {
	mu     sync.Mutex
	who    map[string]string
	free   map[string]time.Time
	moves  int
	longer time.Duration // nobody worked, at most
	twice  []string
}

func newShift() *shift { return &shift{who: map[string]string{}, free: map[string]time.Time{}} }

// lead works until told to end, and then for a while.
func (s *shift) lead(id string, stop time.Duration) func(context.Context, *Term) error {
	return func(ctx context.Context, term *Term) error {
		s.begin(id, term.Election())
		<-ctx.Done()
		pass(stop)
		s.end(term.Election())
		return ctx.Err()
	}
}

func (s *shift) begin(id, election string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.who[election]; other != "" {
		s.twice = append(s.twice, fmt.Sprintf("%s by %s and %s", election, other, id))
	}
	if since, was := s.free[election]; was {
		s.longer = max(s.longer, time.Since(since))
		s.moves++
	}
	s.who[election] = id
}

func (s *shift) end(election string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.who[election] = ""
	s.free[election] = time.Now()
}

// take returns what happened since the last call.
func (s *shift) take() (moves int, longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	moves, longest = s.moves, s.longer
	s.moves, s.longer = 0, 0
	return moves, longest
}

func counts(groups []*runningGroup) []int {
	var n []int
	for _, g := range groups {
		n = append(n, g.count())
	}
	slices.Sort(n)
	return n
}

// 100 elections on three nodes come to 33, 33 and 34; a fourth that joins gets 25 by hand-over, and no election is led twice or long by nobody. One that leaves, or dies, leaves its part to the others.
func TestElectionsAreSharedOut(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		s := newShift()
		var groups []*runningGroup
		join := func(store backend.LeaseStore) {
			id := fmt.Sprint("node-", len(groups))
			cfg := groupConfig(store, id, names(100)...)
			cfg.Balance, cfg.Name = true, "shards"
			groups = append(groups, startGroup(t, cfg, s.lead(id, 100*time.Millisecond)))
		}
		for range 3 {
			join(server.Client())
		}
		pass(5 * ttl)
		if got := fmt.Sprint(counts(groups)); got != "[33 33 34]" {
			t.Errorf("three nodes lead %s", got)
		}
		pass(5 * ttl)
		if moves, _ := s.take(); moves > 200 {
			t.Errorf("%d moves until they had settled", moves)
		}
		pass(20 * ttl)
		if moves, _ := s.take(); moves > 0 {
			t.Errorf("%d moves although nothing changed", moves)
		}
		cut := newFaulty(server.Client())
		join(rostered{faulty: cut, Roster: server.Client()})
		pass(5 * ttl)
		moves, longest := s.take()
		if got := fmt.Sprint(counts(groups)); got != "[25 25 25 25]" || moves > 30 || longest > time.Second {
			t.Errorf("four nodes lead %s after %d moves, nobody led for %v", got, moves, longest)
		}
		groups[0].end(t)
		pass(5 * ttl)
		if got := fmt.Sprint(counts(groups[1:])); got != "[33 33 34]" {
			t.Errorf("the three that are left lead %s", got)
		}
		s.take()
		cut.set(func(context.Context, string) error { return errInjected }, nil)
		pass(2 * ttl)
		led := func() int { return groups[1].count() + groups[2].count() }
		for range 20 {
			if led() == 100 {
				break
			}
			pass(ttl / 10) // some are on their way from one to the other
		}
		if n := led(); n != 100 {
			t.Errorf("the two that can reach the store lead %d", n)
		}
		cut.set(nil, nil)
		pass(10 * ttl)
		if got := fmt.Sprint(counts(groups[1:])); got != "[33 33 34]" {
			t.Errorf("the three lead %s after the cut", got)
		}
		for _, g := range groups[1:] {
			g.end(t)
		}
		if len(s.twice) > 0 {
			t.Errorf("led twice: %v", s.twice)
		}
	})
}

// rostered is a faulty store with a roster, which is as faulty if it isn't another's.
type rostered struct {
	*faulty
	backend.Roster
	reachable bool
}

func (r rostered) Enlist(ctx context.Context, e backend.Entry) error {
	return r.list(ctx, func() error { return r.Roster.Enlist(ctx, e) })
}

func (r rostered) Candidates(ctx context.Context, election string) (entries []backend.Entry, err error) {
	err = r.list(ctx, func() error { entries, err = r.Roster.Candidates(ctx, election); return err })
	return entries, err
}

func (r rostered) list(ctx context.Context, call func() error) error {
	if r.reachable {
		return call()
	}
	return r.do(ctx, "roster", call)
}

// One that lists itself, and can't lead, is offered elections ever more seldom.
func TestACandidateThatTakesNothingIsLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		broken := newFaulty(server.Client())
		broken.set(func(_ context.Context, op string) error {
			if op == "acquire" {
				return errInjected
			}
			return nil
		}, nil)
		s := newShift()
		var groups []*runningGroup
		for id, store := range map[string]backend.LeaseStore{"a": server.Client(), "broken": rostered{faulty: broken, Roster: server.Client(), reachable: true}} {
			cfg := groupConfig(store, id, names(20)...)
			cfg.Balance, cfg.Name = true, "shards"
			groups = append(groups, startGroup(t, cfg, s.lead(id, 0)))
		}
		pass(20 * ttl)
		s.take()
		pass(100 * ttl)
		if moves, longest := s.take(); moves == 0 || moves > 60 || longest > ttl {
			t.Errorf("%d moves in 100 TTLs, nobody led for up to %v", moves, longest)
		}
		for _, g := range groups {
			g.end(t)
		}
	})
}

func TestBalanceNeedsARosterAndAName(t *testing.T) {
	for want, cfg := range map[string]GroupConfig{
		"Name":     {Config: config(memory.New(), "a"), Balance: true},
		"Balance":  {Config: config(newFaulty(memory.New()), "a"), Balance: true, Name: "x"},
		"MaxTerms": {Config: config(memory.New(), "a"), MaxTerms: -1},
	} {
		cfg.Election = ""
		if _, err := NewGroup(cfg); !errors.Is(err, backend.ErrInvalid) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
