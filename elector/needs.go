package elector

import (
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Zones says how far apart the machines are.
type Zones string

// Kinds of zones.
const (
	SingleZone Zones = "single" // one data centre or availability zone; the default
	MultiZone  Zones = "multi"  // several regions
)

// Needs is what a user knows about the work and the place: what Advise computes settings from, and Config.Warnings compares settings with. The zero value says that nothing
// special is known.
type Needs struct {
	// Limits are the store's; default those of a store without particular limits whose leases end by a wall clock.
	Limits backend.Limits
	// RunTime is the 99th percentile of a batch job's run time, zero for work that runs on and on. A batch job gets a TTL of 3 × RunTime, 30 s at least.
	RunTime time.Duration
	// RoundTrip is the 99th percentile of a request to the store, at most 10 s; default 5 ms in one zone, 100 ms in several.
	RoundTrip time.Duration
	// Zones decides on the skew budget, by how much a store's wall clock is expected to step at most: 150 ms in one zone, 500 ms in several.
	Zones Zones
	// Outage of the store must cost no leadership; zero for what the other needs leave.
	Outage time.Duration
	// FailOver is how long after a crash a successor may lead at the latest; zero for what the other needs allow.
	FailOver time.Duration
}

// Figures of the advice.
const (
	runTimes      = 3                     // a batch job's TTL, in run times
	leastBatchTTL = 30 * time.Second      // and at least
	roundTrips    = 4                     // an attempt has to leave room for this many, so that jitter is no failure
	leastNotice   = 50 * time.Millisecond // that cancelled work has to stop in
	longestTrip   = 10 * time.Second      // slower ones are no requests
	longestNeed   = 365 * 24 * time.Hour
)

func (n Needs) withDefaults() Needs {
	if n.Zones == "" {
		n.Zones = SingleZone
	}
	if n.RoundTrip == 0 {
		n.RoundTrip = 5 * time.Millisecond
		if n.Zones == MultiZone {
			n.RoundTrip = 100 * time.Millisecond
		}
	}
	if n.Limits.MaxTTL == 0 {
		n.Limits = backend.Limits{MinTTL: time.Millisecond, MaxTTL: longestNeed, WallClock: true}
	}
	return n
}

// check reports every need that makes no sense.
func (n Needs) check() error {
	var errs []error
	if n.Zones != "" && n.Zones != SingleZone && n.Zones != MultiZone {
		errs = append(errs, fmt.Errorf("elector: Needs.Zones: %w: there are %s and %s", backend.ErrInvalid, SingleZone, MultiZone))
	}
	for _, d := range []struct {
		field       string
		value, most time.Duration
	}{{"RunTime", n.RunTime, longestNeed}, {"RoundTrip", n.RoundTrip, longestTrip}, {"Outage", n.Outage, longestNeed}, {"FailOver", n.FailOver, longestNeed}} {
		if d.value < 0 || d.value > d.most {
			errs = append(errs, fmt.Errorf("elector: Needs.%s: %w: %v is not within 0 and %v", d.field, backend.ErrInvalid, d.value, d.most))
		}
	}
	return errors.Join(errs...)
}

// skewBudget is by how much the store's wall clock is expected to step at most; zero where no wall clock ends leases.
func (n Needs) skewBudget() time.Duration {
	switch {
	case !n.Limits.WallClock && n.Limits.ClockStep <= 0:
		return 0
	case n.Zones == MultiZone:
		return 500 * time.Millisecond
	}
	return 150 * time.Millisecond
}

// batchTTL is the least TTL that the rule for batch jobs wants.
func (n Needs) batchTTL() time.Duration {
	if n.RunTime == 0 {
		return 0
	}
	return max(runTimes*n.RunTime, leastBatchTTL)
}

// shortestAttempt is the least AttemptTimeout with which jitter of the network is no failure.
func (n Needs) shortestAttempt() time.Duration {
	return roundTrips * n.RoundTrip * time.Duration(max(1, n.Limits.RenewRequests))
}

// notice is the least StepDownMargin: a request that the work has just sent comes back.
func (n Needs) notice() time.Duration { return max(n.RoundTrip, leastNotice) }
