package elector

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/fence"
)

// sealer is a guard whose answers a test chooses.
type sealer struct {
	fence.Memory
	fail  atomic.Pointer[error]
	hang  atomic.Bool
	seals atomic.Int64
}

func (s *sealer) Seal(ctx context.Context, election string, t fence.Token) error {
	s.seals.Add(1)
	if s.hang.Load() {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if err := s.fail.Load(); err != nil {
		return *err
	}
	return s.Memory.Seal(ctx, election, t)
}

// F1: no work without all seals, and nothing of an earlier term after them.
func TestGuardsAreSealedBeforeTheWorkBegins(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var one, two sealer
		cfg := config(server.Client(), "a")
		cfg.Guards = []fence.Sealer{&one, &two}
		old := fence.Token{Value: 1, Attempt: fence.Attempt{9}}
		if err := one.Memory.Seal(t.Context(), "e", old); err != nil {
			t.Fatal(err)
		}
		two.fail.Store(&errInjected)
		a := start(t, cfg)
		pass(time.Second)
		synctest.Wait()
		if a.Leading() || len(a.terms) > 0 {
			t.Error("it leads without a seal")
		}
		two.fail.Store(nil)
		term := <-a.terms
		if one.Mark("e") != term.Token() || two.Mark("e") != term.Token() {
			t.Errorf("marks %v and %v, token %v", one.Mark("e"), two.Mark("e"), term.Token())
		}
		if err := one.Do(t.Context(), "e", old, func() error { return nil }); !errors.Is(err, fence.ErrStale) {
			t.Errorf("a write of an earlier term: %v", err)
		}
		_ = a.end()
	})
}

// A guard that has seen a higher token than the store is outbid (store that lost its data).
func TestAHigherMarkAtTheGuardIsOutbid(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var g sealer
		if err := g.Memory.Seal(t.Context(), "e", fence.Token{Value: 1000, Attempt: fence.Attempt{1}}); err != nil {
			t.Fatal(err)
		}
		cfg := config(server.Client(), "a")
		cfg.Guards = []fence.Sealer{&g}
		began := time.Now()
		a := start(t, cfg)
		if term := <-a.terms; term.Token().Value != 1001 || time.Since(began) > time.Second {
			t.Errorf("token %v after %v", term.Token(), time.Since(began))
		}
		_ = a.end()
		e := newTest(t, cfg)
		term, err := e.TryCampaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = term.Resign(t.Context())
		_ = e.Close()
	})
}

// DX12: who can't reach the guard gives up within a TTL and stays away, so that another who can leads.
func TestWhoCannotSealLeavesTheElectionToOthers(t *testing.T) {
	for name, broken := range map[string]func(*sealer){
		"fails": func(s *sealer) { s.fail.Store(&errInjected) },
		"hangs": func(s *sealer) { s.hang.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memory.Server) {
				var bad, good sealer
				broken(&bad)
				ca, cb := config(server.Client(), "a"), config(server.Client(), "b")
				ca.Guards, cb.Guards = []fence.Sealer{&bad}, []fence.Sealer{&good}
				a := start(t, ca)
				pass(time.Second)
				b := start(t, cb)
				b.within(t, ttl)
				pass(5 * ttl)
				synctest.Wait()
				if a.Leading() || !b.Leading() || len(b.terms) != 0 {
					t.Error("the lead moved although b was well")
				}
				_, _ = a.end(), b.end()
				e := newTest(t, ca)
				if _, err := e.TryCampaign(t.Context()); !errors.Is(err, ErrUnsealed) {
					t.Errorf("TryCampaign: %v", err)
				}
				_ = e.Close()
			})
		})
	}
}

// A mark that no store could outbid ends no campaign: it is that guard's fault, and may be mended.
func TestAnAbsurdMarkIsNotOutbid(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		var g sealer
		var absurd error = &fence.StaleError{Mark: fence.Token{Value: fence.MaxValue - 2}}
		g.fail.Store(&absurd)
		cfg := config(server.Client(), "a")
		cfg.Guards = []fence.Sealer{&g}
		a := start(t, cfg)
		pass(10 * ttl)
		synctest.Wait()
		select {
		case err := <-a.result:
			t.Fatalf("Run ended: %v", err)
		default:
		}
		g.fail.Store(nil)
		if term := <-a.terms; term.Token().Value > 1000 {
			t.Errorf("token %v", term.Token())
		}
		_ = a.end()
	})
}
