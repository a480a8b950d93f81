package elector

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// C4, DX19, PE14: where a lease ends only for those who watched it, callers that never live for long still overcome a dead holder; and of two that watch it in the same tick one runs, although the other looks when that is done.
func TestGatesOvercomeADeadObservedHolder(t *testing.T) {
	url := testenv.Redis(t, testenv.Options{}).URL() + "?expiry=observed&prefix=gates"
	gate := func(id string) *Gate {
		cfg := GateConfig{Elector: config(openRedis(t, url), id), AtLeast: 100 * time.Millisecond}
		cfg.Elector.TTL = 2 * time.Second
		g := newGate(t, cfg)
		t.Cleanup(func() { _ = g.Close() })
		return g
	}
	for range 3 {
		dead := gate("")
		p, err := dead.Enter(t.Context())
		must(t, err)
		_ = dead.Config().Elector.Store.Close() // renews no more
		var ran, held atomic.Int32
		var all sync.WaitGroup
		for _, g := range []*Gate{gate(""), gate("")} {
			all.Go(func() {
				switch err := g.Do(t.Context(), func(context.Context, *Term) error { ran.Add(1); return nil }); {
				case errors.Is(err, backend.ErrHeld):
					held.Add(1)
				case err != nil:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if ran.Load() != 1 || held.Load() != 1 {
			t.Errorf("%d ran, %d were refused", ran.Load(), held.Load())
		}
		_ = p.Leave(t.Context())
		// The tick's time is over before the next round.
		for g := gate(""); ; {
			p, err := g.Enter(t.Context())
			if err == nil {
				_ = p.Leave(t.Context())
				break
			}
			if !errors.Is(err, backend.ErrHeld) {
				t.Fatal(err)
			}
			pass(50 * time.Millisecond)
		}
		pass(150 * time.Millisecond)
	}
}
