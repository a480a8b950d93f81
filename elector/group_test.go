package elector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

func groupConfig(s backend.LeaseStore, id string, elections ...string) GroupConfig {
	cfg := config(s, id)
	cfg.Election = ""
	return GroupConfig{Config: cfg, Elections: elections}
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("shard-%03d", i)
	}
	return list
}

// runningGroup is a group that runs in the background of a bubble.
type runningGroup struct {
	*Group
	stop   context.CancelFunc
	result chan error

	mu      sync.Mutex
	working map[string]*Term // by election
	begun   map[string]int
}

// startGroup runs a group. A nil lead works until told to end.
func startGroup(t *testing.T, cfg GroupConfig, lead func(context.Context, *Term) error) *runningGroup {
	t.Helper()
	g, err := NewGroup(cfg)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	r := &runningGroup{Group: g, stop: cancel, result: make(chan error, 1), working: map[string]*Term{}, begun: map[string]int{}}
	if lead == nil {
		lead = func(ctx context.Context, _ *Term) error { <-ctx.Done(); return ctx.Err() }
	}
	go func() {
		r.result <- g.Run(ctx, func(ctx context.Context, term *Term) error {
			r.note(term, term)
			defer r.note(term, nil)
			return lead(ctx, term)
		})
	}()
	return r
}

func (r *runningGroup) note(term, working *Term) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if working == nil {
		delete(r.working, term.Election())
		return
	}
	r.working[term.Election()] = working
	r.begun[term.Election()]++
}

func (r *runningGroup) at(election string) *Term {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.working[election]
}

func (r *runningGroup) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.working)
}

func (r *runningGroup) end(t *testing.T) {
	t.Helper()
	r.stop()
	if err := <-r.result; !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	must(t, r.Close())
}

// One process leads many elections, each under a token of its own, and renews them together.
func TestAGroupLeadsManyElections(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		const n = 200
		a := startGroup(t, groupConfig(server.Client(), "a", names(n)...), nil)
		b := startGroup(t, groupConfig(server.Client(), "b", names(n)...), nil)
		pass(ttl)
		synctest.Wait()
		if a.count()+b.count() != n {
			t.Fatalf("%d and %d of %d are led", a.count(), b.count(), n)
		}
		pass(10 * ttl)
		first := a.at("shard-000")
		if first == nil {
			first = b.at("shard-000")
		}
		token := first.Token()
		a.end(t)
		pass(time.Second)
		if b.count() != n {
			t.Errorf("%d of %d are led by the one that is left", b.count(), n)
		}
		if now := b.at("shard-000").Token(); now.Value < token.Value || now.Value == token.Value && b.begun["shard-000"] > 1 {
			t.Errorf("token %v after %v", now, token)
		}
		b.end(t)
	})
}

// What happens in one election harms none of the others.
func TestAGroupLosesOneElectionAlone(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a := startGroup(t, groupConfig(server.Client(), "a", names(20)...), nil)
		pass(time.Second)
		lost, other := a.at("shard-007"), a.at("shard-008")
		server.Remove("shard-007")
		<-lost.Context().Done()
		if err := context.Cause(lost.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("it ended with %v", err)
		}
		pass(3 * ttl)
		if a.at("shard-008") != other || !other.Valid() || a.count() != 20 {
			t.Errorf("%d are led", a.count())
		}
		if again := a.at("shard-007"); again == nil || again == lost || again.Token().Value <= lost.Token().Value {
			t.Error("the lost one isn't led again")
		}
		a.end(t)
	})
}

// Work that is done leaves its election; work that fails is tried again, and others may go first.
func TestWorkOfAGroup(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		broken := errors.New("broken")
		var events events
		cfg := groupConfig(server.Client(), "a", "done", "fails", "held")
		cfg.Events = events.add
		a := startGroup(t, cfg, func(ctx context.Context, term *Term) error {
			switch term.Election() {
			case "done":
				return nil
			case "fails":
				return broken
			}
			<-ctx.Done()
			return ctx.Err()
		})
		pass(4 * ttl)
		if got := fmt.Sprint(a.Elections()); got != "[fails held]" {
			t.Errorf("it takes part in %s", got)
		}
		b := startGroup(t, groupConfig(server.Client(), "b", "done", "fails"), nil)
		pass(4 * ttl)
		if b.at("done") == nil || b.at("fails") == nil {
			t.Errorf("the other leads %d", b.count())
		}
		if n := a.begun["fails"]; n < 2 || n > 12 {
			t.Errorf("failing work was begun %d times", n)
		}
		if len(events.kinds(Left)) != 1 {
			t.Errorf("left %d times", len(events.kinds(Left)))
		}
		a.end(t)
		b.end(t)
	})
}

// Elections come and go while a group runs; removing one waits for its work.
func TestAddAndRemove(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a := startGroup(t, groupConfig(server.Client(), "a", "x"), func(ctx context.Context, _ *Term) error {
			<-ctx.Done()
			pass(2 * time.Second)
			return nil
		})
		must(t, a.Add("x", "y"))
		pass(time.Second)
		began := time.Now()
		must(t, a.Remove(t.Context(), "x"))
		if time.Since(began) < 2*time.Second || a.at("x") != nil {
			t.Error("it didn't wait for the work")
		}
		r, err := server.Client().Get(t.Context(), "x")
		if err != nil || r.Held() {
			t.Errorf("%v, %v", r, err)
		}
		for _, err := range []error{a.Remove(t.Context(), "x"), a.Add("\xff")} {
			if !errors.Is(err, backend.ErrInvalid) {
				t.Error(err)
			}
		}
		if got := fmt.Sprint(a.Elections()); got != "[y]" {
			t.Errorf("it takes part in %s", got)
		}
		a.end(t)
		if err := a.Add("z"); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// Of k slots each candidate takes one, and never more; when a leader goes, a follower takes its slot.
func TestSlots(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		const k = 3
		var groups []*runningGroup
		for i := range 5 {
			cfg := groupConfig(server.Client(), fmt.Sprint("c", i), Slots("worker", k)...)
			cfg.MaxTerms = 1
			groups = append(groups, startGroup(t, cfg, nil))
		}
		leaders := func() (n int) {
			for _, g := range groups {
				if g.count() > 1 {
					t.Fatalf("one leads in %d slots", g.count())
				}
				n += g.count()
			}
			return n
		}
		for round := range 2 {
			pass(2 * ttl)
			if n := leaders(); n != k {
				t.Fatalf("round %d: %d lead, want %d", round, n, k)
			}
			for i, g := range groups {
				if g.count() == 1 {
					g.end(t)
					groups = append(groups[:i], groups[i+1:]...)
					break
				}
			}
			pass(time.Second)
			if n := leaders(); n != k {
				t.Fatalf("round %d: %d lead after one has gone, want %d", round, n, k)
			}
		}
		for _, g := range groups {
			g.end(t)
		}
	})
}

// Without a function terms are held for those who ask.
func TestAGroupWithoutAFunction(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		g, err := NewGroup(groupConfig(server.Client(), "a", names(10)...))
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- g.Run(ctx, nil) }()
		pass(3 * ttl)
		for _, name := range names(10) {
			if !g.Leading(name) || g.Term(name).Election() != name {
				t.Errorf("%s isn't led", name)
			}
		}
		term := g.Term("shard-003")
		if err := g.Run(t.Context(), nil); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		must(t, term.Resign(t.Context()))
		<-term.Context().Done()
		pass(2 * ttl)
		if again := g.Term("shard-003"); again == nil || again == term {
			t.Error("it isn't led again after a resignation")
		}
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) || g.Leading("shard-001") {
			t.Error(err)
		}
		must(t, g.Close())
		if err := g.Run(t.Context(), nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}
