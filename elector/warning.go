package elector

import (
	"fmt"
	"log/slog"
	"time"
)

// Warning tells of a setting that is valid, and safe under the stated assumptions, but will probably disappoint.
type Warning struct {
	Kind  WarningKind
	Field string // of Config: the one to change first
	Text  string // what will happen, in numbers, and what to do
}

// String is the warning in one line.
func (w Warning) String() string { return "Config." + w.Field + ": " + w.Text }

// WarningKind names what a warning is about.
type WarningKind string

// Kinds of warnings.
const (
	SlowFailOver  WarningKind = "slow fail-over" // after a crash nobody leads for longer than wanted, or for more than ten minutes
	ShortLease    WarningKind = "short lease"    // TTL is below max(3 × RunTime, 30 s) of a batch job
	LateHeartbeat WarningKind = "late heartbeat" // RenewInterval is more than a third of the TTL
	ShortAttempt  WarningKind = "short attempt"  // AttemptTimeout is so short that jitter of the network looks like an outage
	LittleReserve WarningKind = "little reserve" // a shorter outage of the store than wanted costs the leadership
	ThinMargin    WarningKind = "thin margin"    // a step of the store's wall clock, within the skew budget of the zones, lets two lead
	ShortNotice   WarningKind = "short notice"   // cancelled work has less than a round trip, or 50 ms, to stop
)

const longFailOver = 10 * time.Minute

// Warnings compares a valid configuration with what is needed, and tells what will probably disappoint. The limits are the store's own, whatever n says. It returns nil for a
// configuration that Validate refuses, and for needs that make no sense. With zero needs it finds what few would want.
func (c Config) Warnings(n Needs) []Warning {
	if c.Validate() != nil || n.check() != nil {
		return nil
	}
	n.Limits = c.Store.Limits()
	n = n.withDefaults()
	c = c.withDefaults()
	t := c.Timing()
	var found []Warning
	warn := func(when bool, kind WarningKind, field, format string, args ...any) {
		if when {
			found = append(found, Warning{Kind: kind, Field: field, Text: fmt.Sprintf(format, args...)})
		}
	}
	wanted := n.FailOver
	if wanted == 0 && n.RunTime == 0 && n.Outage == 0 { // else a long TTL has its reason
		wanted = longFailOver
	}
	warn(wanted > 0 && t.FailOver > wanted, SlowFailOver, "TTL", "a TTL of %v means that for up to %v after a crash nobody leads, and %v is the most that is wanted; make it shorter", c.TTL, t.FailOver, wanted)
	warn(c.TTL < n.batchTTL(), ShortLease, "TTL", "%v is less than a job which runs for %v should have; make it at least %v", c.TTL, n.RunTime, n.batchTTL())
	warn(c.RenewInterval > c.TTL/3, LateHeartbeat, "RenewInterval", "%v is more than a third of the TTL %v, so that few failed renewals are survived; make it at most %v", c.RenewInterval, c.TTL, c.TTL/3)
	warn(c.AttemptTimeout < n.shortestAttempt(), ShortAttempt, "AttemptTimeout", "%v is too short for round trips of %v: jitter will look like an outage; make it at least %v, and TTL at least %v",
		c.AttemptTimeout, n.RoundTrip, n.shortestAttempt(), 4*n.shortestAttempt())
	warn(t.OutageSurvived < n.Outage, LittleReserve, "TTL", "an outage of %v will cost the leadership: %v is survived; make TTL longer or RenewInterval shorter", n.Outage, t.OutageSurvived)
	budget := n.skewBudget()
	warn(t.SkewTolerated < budget, ThinMargin, "SafetyMargin", "leases end by the store's wall clock, and if it steps forward by more than %v two may lead; in %s zones up to %v is to be expected: make it at least %v, "+
		"or say in the store's settings by how much the clock may step", t.SkewTolerated, n.Zones, budget, budget-c.clockStep())
	warn(c.StepDownMargin < n.notice(), ShortNotice, "StepDownMargin", "%v is less than work needs to stop; make it at least %v", c.StepDownMargin, n.notice())
	return found
}

// warn logs what the configuration's warnings are, once for each elector or group.
func (c Config) warn() {
	for _, w := range c.Warnings(Needs{}) {
		c.Logger.Warn("elector: a setting will probably disappoint",
			slog.String("election", c.Election), slog.String("kind", string(w.Kind)), slog.String("field", w.Field), slog.String("warning", w.Text))
	}
}
