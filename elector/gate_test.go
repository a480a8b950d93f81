package elector

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

func newGate(t *testing.T, cfg GateConfig) *Gate {
	t.Helper()
	g, err := NewGate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func gateConfig(s backend.LeaseStore, id string, least, most time.Duration) GateConfig {
	c := config(s, id)
	c.TTL = 0
	return GateConfig{Elector: c, AtLeast: least, AtMost: most}
}

func done(context.Context, *Term) error { return nil }

// untilTold works until its context ends.
func untilTold(ctx context.Context, _ *Term) error { <-ctx.Done(); return ctx.Err() }

// C1, C4, B1: three servers have the same schedule, clocks or start times that differ, and a job that is shorter than that: one runs each tick, and when that one is gone, another runs the next.
func TestOneServerRunsEachTick(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		const interval, least = 10 * time.Second, 9 * time.Second
		type run struct {
			by string
			at time.Duration
		}
		runs := make(chan run, 100)
		began := time.Now()
		stops := map[string]context.CancelFunc{}
		for i, id := range []string{"a", "b", "c"} {
			ctx, cancel := context.WithCancel(t.Context())
			stops[id] = cancel
			g := newGate(t, gateConfig(server.Client(), id, least, 0))
			go func() {
				defer g.Close()
				pass(time.Duration(i) * 2 * time.Second)
				for ctx.Err() == nil {
					err := g.Do(ctx, func(context.Context, *Term) error {
						runs <- run{id, time.Since(began)}
						pass(50 * time.Millisecond)
						return nil
					})
					if err != nil && !errors.Is(err, backend.ErrHeld) {
						t.Errorf("%s: %v", id, err)
					}
					select {
					case <-time.After(interval):
					case <-ctx.Done():
					}
				}
			}()
		}
		pass(6*interval - time.Second)
		if len(runs) != 6 {
			t.Errorf("%d runs in six intervals", len(runs))
		}
		for len(runs) > 0 {
			if r := <-runs; r.by != "a" {
				t.Errorf("%s ran at %v", r.by, r.at)
			}
		}
		stops["a"]()
		pass(6 * interval)
		if len(runs) != 6 && len(runs) != 5 {
			t.Errorf("%d runs in six intervals without the first server", len(runs))
		}
		for _, stop := range stops {
			stop()
		}
		pass(time.Minute)
	})
}

// A TTL of its own that is shorter than AtLeast: the process renews until the rest fits into a reservation, and its own next tick is refused, too.
func TestAtLeastLongerThanTheTTL(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		cfg := gateConfig(server.Client(), "a", 20*time.Second, 0)
		cfg.Elector.TTL = ttl
		a, b := newGate(t, cfg), newGate(t, gateConfig(server.Client(), "b", 0, 0))
		began := time.Now()
		must(t, a.Do(t.Context(), done))
		if took := time.Since(began); took > time.Second {
			t.Errorf("the call took %v", took)
		}
		for time.Since(began) < 19*time.Second {
			for _, g := range []*Gate{a, b} {
				var held *backend.HeldError
				if err := g.Do(t.Context(), done); !errors.As(err, &held) {
					t.Fatalf("after %v: %v", time.Since(began), err)
				} else if wait := held.Record.Wait("b"); wait <= 0 || wait > 20*time.Second {
					t.Errorf("after %v: to wait for %v", time.Since(began), wait)
				}
			}
			pass(time.Second)
		}
		pass(time.Second)
		must(t, b.Do(t.Context(), done))
		must(t, a.Do(t.Context(), done))
		must(t, a.Close())
		pass(5*time.Second - time.Millisecond)
		if err := b.Do(t.Context(), done); !errors.Is(err, backend.ErrHeld) {
			t.Errorf("a gate that was closed within AtLeast keeps its election for a TTL: %v", err)
		}
		pass(time.Millisecond)
		must(t, b.Do(t.Context(), done))
		must(t, b.Close())
	})
}

// By default the TTL is no shorter than AtLeast, so that a crash lets nobody run the same tick again; and one of a server keeps nobody out for longer than that.
func TestACrashWithinAtLeast(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		a, b := newGate(t, gateConfig(f, "a", 20*time.Second, 0)), newGate(t, gateConfig(server.Client(), "b", 0, 0))
		p, err := a.Enter(t.Context())
		must(t, err)
		f.set(func(context.Context, string) error { return errInjected }, nil) // as good as dead
		pass(19 * time.Second)
		if err := b.Do(t.Context(), done); !errors.Is(err, backend.ErrHeld) {
			t.Errorf("within AtLeast: %v", err)
		}
		pass(time.Second)
		must(t, b.Do(t.Context(), done))
		if cause := context.Cause(p.Context()); !errors.Is(cause, ErrDeadline) {
			t.Errorf("the dead one's context: %v", cause)
		}
		must(t, p.Leave(t.Context()))
		must(t, a.Close())
		must(t, b.Close())
	})
}

// Where the question takes long, another server may have asked in the same tick and look later: the election is kept for as long as that.
func TestAtLeastCoversALongQuestion(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		f := newFaulty(server.Client())
		f.set(func(_ context.Context, op string) error {
			if op == "get" {
				pass(time.Second)
			}
			return nil
		}, nil)
		a, b := newGate(t, gateConfig(f, "a", 100*time.Millisecond, 0)), newGate(t, gateConfig(server.Client(), "b", 0, 0))
		must(t, a.Do(t.Context(), done))
		pass(999 * time.Millisecond)
		if err := b.Do(t.Context(), done); !errors.Is(err, backend.ErrHeld) {
			t.Error(err)
		}
		pass(time.Millisecond)
		must(t, b.Do(t.Context(), done))
		must(t, a.Close())
		must(t, b.Close())
	})
}

// The same server's next tick does not run beside the first, and says why. B35: work outside of a gate has no term.
func TestATickWhileTheLastOneIsAtWork(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		g := newGate(t, gateConfig(server.Client(), "a", time.Second, 0))
		must(t, g.Do(t.Context(), func(ctx context.Context, term *Term) error {
			if err := g.Do(ctx, done); !errors.Is(err, ErrBusy) || errors.Is(err, backend.ErrHeld) {
				t.Errorf("a second call: %v", err)
			}
			if !term.Valid() {
				t.Error("the second call ended the first")
			}
			l, err := g.Leader(ctx)
			if err != nil || l.Candidate.ID != "a" || l.Token != term.Token().Value {
				t.Errorf("%+v, %v", l, err)
			}
			return nil
		}))
		if err := g.Do(t.Context(), nil); !errors.Is(err, backend.ErrInvalid) {
			t.Error(err)
		}
		must(t, g.Close())
		must(t, g.Close())
		if err := g.Do(t.Context(), done); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

func TestGateConfigIsChecked(t *testing.T) {
	store := memory.NewServer().Client()
	for _, c := range []GateConfig{
		gateConfig(store, "a", -1, 0), gateConfig(store, "a", 0, -1), gateConfig(store, "a", 2, 1), {}, {Elector: Config{Store: store}},
	} {
		if _, err := NewGate(c); !errors.Is(err, backend.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for least, want := range map[time.Duration]time.Duration{0: 5 * time.Second, time.Second: 5 * time.Second, time.Minute: time.Minute, 1 << 62: store.Limits().MaxTTL} {
		if got := newGate(t, gateConfig(store, "a", least, 0)).Config().Elector.TTL; got != want {
			t.Errorf("AtLeast %v: TTL %v, want %v", least, got, want)
		}
	}
}
