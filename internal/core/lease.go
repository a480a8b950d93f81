package core

import "time"

// Margins are the safety allowances of a lease, as resolved from the configuration.
type Margins struct {
	Safety   time.Duration // belief ends this much before the lease could
	StepDown time.Duration // work is cancelled this much before belief ends
	DriftPPM int64         // ρ: by how much the rate of two clocks may differ from true time, in millionths
	Step     time.Duration // σ: by how much the store's wall clock may step forward within a TTL
}

// Deadlines is the lease inequality, the only place where it stands. Of a lease of ttl, counted from the start of the request which moved its expiry, the
// holder may believe in
//
//	hard = (ttl − σ) × (1 − ρ)/(1 + ρ) − safety margin
//
// and cancels its work at soft = hard − step-down margin. ttl is the smaller of what was asked and what was granted. The drift factor is that of a
// slow holder and a fast store, each off by ρ.
func (m Margins) Deadlines(ttl time.Duration) (soft, hard time.Duration) {
	slow, fast := 1_000_000-m.DriftPPM, 1_000_000+m.DriftPPM
	left := int64(ttl - m.Step)
	// Divided first, so that no TTL overflows; both terms round down.
	scaled := left/fast*slow + left%fast*slow/fast
	hard = time.Duration(scaled) - m.Safety
	return hard - m.StepDown, hard
}
