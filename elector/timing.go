package elector

import (
	"cmp"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// Timing is what a configuration means in practice, and what it costs.
type Timing struct {
	CancelAfter    time.Duration // after the last confirmed renewal was sent, work is cancelled
	BelieveFor     time.Duration // and belief in the lease ends
	StopWithin     time.Duration // work that is cancelled has this long until another could lead: TTL - CancelAfter
	OutageSurvived time.Duration // an outage of the store this long costs no leadership, whenever it begins
	// FailOver: a crashed leader's successor leads at the latest about this long after the crash: TTL, lags, and one slow request. Where leases end only for who has watched
	// them, see backend.Limits.Expiry, it includes the TTL more that a candidate which comes after the crash waits.
	FailOver time.Duration
	// SkewTolerated is by how much the store's wall clock may step forward within a TTL: its ClockStep, and SafetyMargin. Where leases don't end by a wall clock, any step
	// is harmless.
	SkewTolerated    time.Duration
	LeaderRequests   float64 // of a leader to the store, a second
	FollowerRequests float64 // of an idle follower, a second, at most
}

// String tells the numbers in one line.
func (t Timing) String() string {
	return fmt.Sprintf("work cancelled %v and belief ended %v after the last renewal, outage survived %v, skew tolerated %v, fail-over within %v",
		t.CancelAfter, t.BelieveFor, t.OutageSurvived, t.SkewTolerated, t.FailOver)
}

// Timing computes what the configuration, after defaults, means in practice. Store must be set, and the configuration valid.
func (c Config) Timing() Timing {
	c = c.withDefaults()
	soft, hard := c.margins().Deadlines(c.TTL)
	limits := c.Store.Limits()
	failOver := c.TTL + limits.ExpiryLag + core.Lag(c.TTL) + c.AttemptTimeout
	if limits.Expiry == backend.Observed || limits.Expiry == backend.Beat {
		failOver += c.TTL
	}
	return Timing{
		CancelAfter: soft, BelieveFor: hard, StopWithin: c.TTL - soft,
		OutageSurvived:   max(0, soft-c.RenewInterval-c.AttemptTimeout),
		FailOver:         failOver,
		SkewTolerated:    c.clockStep() + c.SafetyMargin,
		LeaderRequests:   float64(max(1, limits.RenewRequests)) / c.RenewInterval.Seconds(),
		FollowerRequests: cmp.Or(limits.FollowerRequests, 1.25) / c.TTL.Seconds(),
	}
}
