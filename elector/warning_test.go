package elector

import (
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

func kindsOf(found []Warning) (kinds []WarningKind) {
	for _, w := range found {
		kinds = append(kinds, w.Kind)
	}
	return kinds
}

// A10: each setting that will disappoint is named, with the field to change, and nothing else is.
func TestWarnings(t *testing.T) {
	wall := backend.Limits{Store: "walled", MinTTL: time.Millisecond, MaxTTL: longestNeed, WallClock: true}
	steady, stepping := wall, wall
	steady.WallClock, stepping.ClockStep = false, 400*time.Millisecond
	for _, c := range []struct {
		name   string
		limits backend.Limits
		change func(*Config)
		needs  Needs
		kind   WarningKind
		field  string
	}{
		{"defaults", wall, func(*Config) {}, Needs{}, "", ""},
		{"the users' 3 s", wall, func(c *Config) { c.TTL = 3 * time.Second }, Needs{}, "", ""},
		{"a day", wall, func(c *Config) { c.TTL = 24 * time.Hour }, Needs{}, SlowFailOver, "TTL"},
		{"a day for a job of hours", wall, func(c *Config) { c.TTL = 24 * time.Hour }, Needs{RunTime: 8 * time.Hour}, "", ""},
		{"slower than wanted", wall, func(*Config) {}, Needs{FailOver: 6 * time.Second}, SlowFailOver, "TTL"},
		{"short for a job", wall, func(*Config) {}, Needs{RunTime: time.Second}, ShortLease, "TTL"},
		{"late heartbeat", wall, func(c *Config) { c.RenewInterval, c.AttemptTimeout = 2*time.Second, time.Second }, Needs{}, LateHeartbeat, "RenewInterval"},
		{"short attempts", wall, func(c *Config) { c.AttemptTimeout = 19 * time.Millisecond }, Needs{}, ShortAttempt, "AttemptTimeout"},
		{"short TTL for the network", wall, func(*Config) {}, Needs{RoundTrip: 400 * time.Millisecond}, ShortAttempt, "AttemptTimeout"},
		{"outage", wall, func(*Config) {}, Needs{Outage: 2 * time.Second}, LittleReserve, "TTL"},
		{"thin margin in one zone", wall, func(c *Config) { c.TTL = 2 * time.Second }, Needs{}, ThinMargin, "SafetyMargin"},
		{"thin margin in several", wall, func(*Config) {}, Needs{Zones: MultiZone}, ThinMargin, "SafetyMargin"},
		{"the store's own step counts", stepping, func(*Config) {}, Needs{Zones: MultiZone}, "", ""},
		{"no wall clock, no budget", steady, func(c *Config) { c.TTL = 2 * time.Second }, Needs{Zones: MultiZone, RoundTrip: time.Millisecond}, "", ""},
		{"no time to stop", wall, func(c *Config) { c.StepDownMargin = time.Millisecond }, Needs{}, ShortNotice, "StepDownMargin"},
		{"refused by Validate", wall, func(c *Config) { c.TTL = -1 }, Needs{}, "", ""},
		{"needs without sense", wall, func(c *Config) { c.TTL = 24 * time.Hour }, Needs{Zones: "both"}, "", ""},
	} {
		cfg := Config{Store: declared{limits: c.limits}, Election: "e", Logger: quiet}
		c.change(&cfg)
		found := cfg.Warnings(c.needs)
		switch {
		case c.kind == "" && len(found) == 0:
		case len(found) != 1 || found[0].Kind != c.kind || found[0].Field != c.field || !strings.HasPrefix(found[0].String(), "Config."+c.field+": "):
			t.Errorf("%s: got %v %v, want %q", c.name, kindsOf(found), found, c.kind)
		}
	}
}

// B6: the skew budget is what it says. A holder that has renewed just before the store's clock steps forward by all that is tolerated stops believing before the lease can go.
func TestTheSkewThatIsToleratedIs(t *testing.T) {
	for _, ttl := range []time.Duration{1700 * time.Millisecond, 5 * time.Second, time.Hour} {
		for _, step := range []time.Duration{0, 50 * time.Millisecond} {
			c := Config{Store: declared{limits: backend.Limits{MinTTL: 1, MaxTTL: longestNeed, WallClock: true, ClockStep: step}}, Election: "e", TTL: ttl, Logger: quiet}
			timing, rho := c.Timing(), c.withDefaults().ClockDrift
			belief := float64(timing.BelieveFor) / (1 - rho) // by true time, on a slow clock
			lease := float64(ttl-timing.SkewTolerated) / (1 + rho)
			if slack := time.Duration(lease - belief); slack < -10*time.Nanosecond || slack > ttl/50 {
				t.Errorf("TTL %v, σ %v: the lease ends %v after belief", ttl, step, slack)
			}
		}
	}
}
