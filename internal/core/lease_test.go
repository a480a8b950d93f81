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
