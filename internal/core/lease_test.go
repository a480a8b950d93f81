package core

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// The lease inequality against exact rationals: never later than it says, earlier by no more than the rounding, at any size.
func TestDeadlinesAreExactAndNeverLate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	upTo := func(bits int) time.Duration { return time.Duration(r.Int64N(1 << (1 + r.IntN(bits)))) }
	rounding := big.NewRat(3, 1)
	for range 50_000 {
		m := Margins{Safety: upTo(55), StepDown: upTo(55), DriftPPM: r.Int64N(500_001), Step: upTo(55)}
		ttl := upTo(62)
		soft, hard := m.Deadlines(ttl)
		if hard-soft != m.StepDown {
			t.Fatalf("%+v of %d: soft %d, hard %d", m, ttl, soft, hard)
		}
		if hard <= 0 {
			continue // nothing is believed
		}
		exact := new(big.Rat).SetInt64(int64(ttl - m.Step))
		exact.Mul(exact, big.NewRat(1_000_000-m.DriftPPM, 1_000_000+m.DriftPPM))
		exact.Sub(exact, new(big.Rat).SetInt64(int64(m.Safety)))
		early := exact.Sub(exact, new(big.Rat).SetInt64(int64(hard)))
		if early.Sign() < 0 || early.Cmp(rounding) > 0 {
			t.Fatalf("%+v of %d: %v early", m, ttl, early)
		}
	}
}

// The lease inequality: a holder whose clock is slow by ρ, against a store whose clock is fast by ρ and leaps by σ, stops believing before the store lets the lease go.
func TestBeliefEndsBeforeTheLeaseCan(t *testing.T) {
	for range 100_000 {
		ttl := time.Duration(rand.Int64N(int64(48*time.Hour))) + 1
		m := Margins{
			Safety: time.Duration(rand.Int64N(int64(ttl))), StepDown: time.Duration(rand.Int64N(int64(ttl))),
			DriftPPM: rand.Int64N(100_000), Step: time.Duration(rand.Int64N(int64(ttl))),
		}
		soft, hard := m.Deadlines(ttl)
		if hard-soft != m.StepDown || hard > ttl {
			t.Fatalf("%+v of %v: soft %v, hard %v", m, ttl, soft, hard)
		}
		if hard <= 0 {
			continue
		}
		rho := float64(m.DriftPPM) / 1e6
		trueBelief := float64(hard) / (1 - rho)      // how long the slow holder believes, in true time
		trueLease := float64(ttl-m.Step) / (1 + rho) // when the fast store's lease may end, in true time
		if slack := trueLease - trueBelief; slack < -1e-6*float64(ttl) {
			t.Fatalf("%+v of %v: belief outlives the lease by %v", m, ttl, time.Duration(-slack))
		}
	}
}

func TestDeadlinesOfTheDefaults(t *testing.T) {
	m := Margins{Safety: 250 * time.Millisecond, StepDown: 500 * time.Millisecond, DriftPPM: 2000}
	soft, hard := m.Deadlines(5 * time.Second)
	if hard.Round(time.Millisecond) != 4730*time.Millisecond || soft.Round(time.Millisecond) != 4230*time.Millisecond {
		t.Errorf("soft %v, hard %v", soft, hard)
	}
}
