package elector

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/internal/core"
)

// recorder keeps what went into an elector's machine and what came out.
type recorder struct {
	inputs  []core.Input
	outputs [][]core.Action
}

func (r *recorder) record(_ *member, in core.Input, out []core.Action) {
	r.inputs, r.outputs = append(r.inputs, in), append(r.outputs, out)
}

// replay feeds what was recorded to a fresh machine and compares what it says.
func (r *recorder) replay(t *testing.T, cfg Config) {
	t.Helper()
	m := newMember(newLoop(cfg, nil), cfg.Election).machine
	for i, in := range r.inputs {
		if got := m.Step(in); !reflect.DeepEqual(got, r.outputs[i]) {
			t.Fatalf("step %d: the machine says\n%+v\nand said\n%+v", i, got, r.outputs[i])
		}
	}
}

// The shell decides nothing: the machine alone, fed with what was recorded, says the same again.
func TestARecordedRunReplaysThroughTheCore(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		e := newTest(t, config(f, "a"))
		var rec recorder
		e.loop.record = rec.record
		for i := range 20 {
			term, err := e.Campaign(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pass(ttl)
			if i%3 == 0 {
				f.set(func(context.Context, string) error { return errInjected }, nil)
				<-term.Context().Done()
				f.set(nil, nil)
			}
			if err := term.Resign(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		_ = e.Close()
		if len(rec.inputs) < 200 {
			t.Errorf("only %d steps", len(rec.inputs))
		}
		rec.replay(t, e.Config())
	})
}

// PE45, IN43, R12, R64: a store that hangs, and ignores its context, costs the term at its deadline, no later.
func TestAStoreThatHangsCostsTheTermInTime(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		a := start(t, config(f, "a"))
		term := <-a.terms
		hold := make(chan struct{})
		f.set(func(context.Context, string) error { <-hold; return errInjected }, nil)
		began := time.Now()
		<-term.Context().Done()
		if took := time.Since(began); took > a.Config().Timing().CancelAfter {
			t.Errorf("cancelled after %v", took)
		}
		pass(time.Minute)
		f.set(nil, nil)
		close(hold)
		<-a.terms
		_ = a.end()
	})
}

// R41, R43: a watch that is deaf only costs speed.
func TestADeafWatchIsMadeUpForByTheTimer(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		f.set(func(_ context.Context, op string) error {
			if op == "watch" {
				return errInjected
			}
			return nil
		}, nil)
		a := start(t, config(server.Client(), "a"))
		<-a.terms
		b := start(t, config(f, "b"))
		pass(10 * ttl)
		_ = a.end()
		began := time.Now()
		<-b.terms
		if took := time.Since(began); took > ttl+core.Lag(ttl) {
			t.Errorf("it took %v", took)
		}
		_ = b.end()
	})
}

// PE53, PE54, R25, R28: campaigns that are ended at random points leave nothing running and nothing held.
func TestManyRunsEndedAtRandom(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var mu sync.Mutex
		working := 0
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				e := newTest(t, config(server.Client(), ""))
				for range 125 {
					ctx, cancel := context.WithTimeout(t.Context(), rand.N(3*time.Second))
					err := e.Run(ctx, func(ctx context.Context, _ *Term) error {
						mu.Lock()
						working++
						if working > 1 {
							t.Error("two work at once")
						}
						mu.Unlock()
						<-ctx.Done()
						pass(rand.N(100 * time.Millisecond))
						mu.Lock()
						working--
						mu.Unlock()
						return ctx.Err()
					})
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Run returned %v", err)
					}
					cancel()
				}
				_ = e.Close()
			})
		}
		all.Wait()
		synctest.Wait()
		l, err := newTest(t, config(server.Client(), "")).Leader(t.Context())
		if err != nil || !l.Nobody() {
			t.Errorf("%+v, %v", l, err)
		}
		t.Logf("%d terms in 1000 runs", l.Token)
	})
}

// PE48: a follower that is stopped never leads. PE49: what never ran, or whose campaign failed at once, closes at once.
func TestAStoppedFollowerNeverLeads(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a := start(t, config(server.Client(), "a"))
		<-a.terms
		b := start(t, config(server.Client(), "b"))
		pass(time.Second)
		if err := b.end(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if len(b.terms) != 0 {
			t.Error("the follower led")
		}
		g := startGroup(t, groupConfig(server.Client(), "g", "e"), nil)
		pass(time.Second)
		if g.end(t); g.begun["e"] != 0 {
			t.Error("the group that followed led")
		}
		_ = a.end()
		must(t, newTest(t, config(server.Client(), "c")).Close())
		idle, err := NewGroup(groupConfig(server.Client(), "g", "e"))
		must(t, err)
		must(t, idle.Close())
		f := newFaulty(server.Client())
		f.set(func(context.Context, string) error { return backend.ErrVersion }, nil)
		d := start(t, config(f, "d"))
		if err := <-d.result; !errors.Is(err, backend.ErrVersion) {
			t.Errorf("Run returned %v", err)
		}
		must(t, d.Close())
	})
}
