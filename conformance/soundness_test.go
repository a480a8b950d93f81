package conformance

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// slow delays each request and each reply, as a busy machine or network does.
type slow struct {
	backend.LeaseStore
	most time.Duration
}

func (s slow) lag(ctx context.Context) {
	if rand.IntN(3) == 0 { // rarely both of two calls
		pause(ctx, time.Duration(rand.Int64N(int64(s.most))))
	}
}

func (s slow) Unwrap() backend.LeaseStore { return s.LeaseStore }

func (s slow) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	s.lag(ctx)
	defer s.lag(ctx)
	return s.LeaseStore.Acquire(ctx, c)
}

func (s slow) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	s.lag(ctx)
	defer s.lag(ctx)
	return s.LeaseStore.Renew(ctx, l)
}

func (s slow) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	s.lag(ctx)
	defer s.lag(ctx)
	return s.LeaseStore.Release(ctx, l, h)
}

func (s slow) Get(ctx context.Context, election string) (backend.Record, error) {
	s.lag(ctx)
	defer s.lag(ctx)
	return s.LeaseStore.Get(ctx, election)
}

// A slow machine may make a case undecided. It must not make it fail.
func TestDelaysAreNoViolations(t *testing.T) {
	for _, most := range []time.Duration{defaultTTL / 20, defaultTTL / 2, 4 * defaultTTL} {
		server := memory.NewServer()
		s := Suite{TTL: defaultTTL, Open: func(T) backend.LeaseStore { return slow{server.Client(), most} }}
		outcomes := make(map[Outcome]int)
		for _, c := range Cases() {
			for range 5 {
				synctest.Test(t, func(t *testing.T) {
					result, _ := play(t.Context(), s, c, c.Name)
					outcomes[result.Outcome]++
					for _, f := range result.Failures {
						t.Errorf("delays up to %v: %s: %v", most, c.Name, f)
					}
				})
			}
		}
		t.Logf("delays up to %v: %v", most, outcomes)
	}
}
