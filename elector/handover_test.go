package elector

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// DX9: a leader names its successor: of three followers that one leads, whoever is faster, and only when the leader's work has returned.
func TestHandOverToANamedCandidate(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		slow := func(ctx context.Context, _ *Term) error {
			<-ctx.Done()
			pass(3 * time.Second)
			return nil
		}
		candidates := map[string]*running{}
		for _, id := range []string{"a", "b", "c", "d"} {
			candidates[id] = startWith(t, config(server.Client(), id), slow)
			if id == "a" {
				first := <-candidates["a"].terms
				defer func() {
					if err := context.Cause(first.Context()); !errors.Is(err, ErrResigned) {
						t.Errorf("the first term ended with %v", err)
					}
				}()
				candidates["a"].terms <- first
			}
		}
		pass(time.Second)
		began := time.Now()
		must(t, (<-candidates["a"].terms).HandOver(t.Context(), backend.Handover{To: "c"}))
		second := <-candidates["c"].terms
		if took := time.Since(began); took < 3*time.Second || took > 3*time.Second+50*time.Millisecond {
			t.Errorf("handed over after %v", took)
		}
		// A successor that isn't there costs its time, no more.
		began = time.Now()
		must(t, second.HandOver(t.Context(), backend.Handover{To: "nobody", For: 2 * time.Second}))
		select {
		case <-candidates["b"].terms:
		case <-candidates["d"].terms:
		}
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("free %v after a hand-over to one that wasn't there", took)
		}
		for _, c := range candidates {
			_ = c.end()
		}
	})
}

// DX20: work that is shorter than its interval keeps the election for a least time, counted from the resignation.
func TestKeptForNobody(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		a, b := newTest(t, config(server.Client(), "a")), newTest(t, config(server.Client(), "b"))
		term, err := a.TryCampaign(t.Context())
		must(t, err)
		must(t, term.HandOver(t.Context(), backend.Handover{For: 4 * time.Second}))
		for _, e := range []*Elector{a, b} {
			if _, err := e.TryCampaign(t.Context()); !errors.Is(err, backend.ErrHeld) {
				t.Errorf("elected too early: %v", err)
			}
		}
		pass(4 * time.Second)
		second, err := b.TryCampaign(t.Context())
		must(t, err)
		for _, h := range []backend.Handover{{}, {For: -1}, {To: "\xff"}, {To: "b"}, {To: "x", For: -1}} {
			if err := second.HandOver(t.Context(), h); !errors.Is(err, backend.ErrInvalid) || !second.Valid() {
				t.Errorf("%+v: %v, valid %v", h, err, second.Valid())
			}
		}
		must(t, second.Resign(t.Context()))
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
