package elector

import (
	"sort"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Advice is a set of timings for Config that meets some needs.
type Advice struct {
	TTL, RenewInterval, AttemptTimeout, SafetyMargin, StepDownMargin time.Duration
	// Timing is what they mean and cost.
	Timing Timing
}

// Apply returns c with the advised timings.
func (a Advice) Apply(c Config) Config {
	c.TTL, c.RenewInterval, c.AttemptTimeout, c.SafetyMargin, c.StepDownMargin = a.TTL, a.RenewInterval, a.AttemptTimeout, a.SafetyMargin, a.StepDownMargin
	return c
}

// Advise computes timings from needs. It contacts nobody. What it advises is valid on a store with the same limits and gives no Warnings for the same needs; for zero needs it is
// what a zero Config has.
//
// It returns a *ConflictError when the needs can't be met together, and an error that wraps backend.ErrInvalid and lists every problem when one makes no sense.
func Advise(n Needs) (Advice, error) {
	if err := n.check(); err != nil {
		return Advice{}, err
	}
	for _, s := range styles {
		if c, ok := n.withDefaults().choose(s); ok {
			return Advice{
				TTL: c.TTL, RenewInterval: c.RenewInterval, AttemptTimeout: c.AttemptTimeout, SafetyMargin: c.SafetyMargin, StepDownMargin: c.StepDownMargin,
				Timing: c.Timing(),
			}, nil
		}
	}
	return Advice{}, n.conflict()
}

// style is how a TTL is divided up. A brisk one gives up an attempt as soon as the network allows: the shorter an attempt and the interval, the longer an outage is survived
// under the same TTL, at the price of requests and of patience with a slow store.
type style struct {
	renew, attempt time.Duration // the most, as parts of a TTL
	brisk          bool
}

// styles begins with the defaults, and goes on to what costs more.
var styles = []style{{renew: 3, attempt: 4}, {renew: 3, attempt: 4, brisk: true}, {renew: 6, attempt: 6, brisk: true}, {renew: 10, attempt: 10, brisk: true}}

// config is a configuration of the given TTL.
func (n Needs) config(s style, ttl time.Duration) Config {
	c := Config{Store: declared{limits: n.Limits}, Election: "advice", Candidate: backend.Candidate{ID: "advice"}, TTL: ttl, RenewInterval: ttl / s.renew}.withDefaults()
	if s.brisk {
		c.AttemptTimeout = min(c.AttemptTimeout, ttl/s.attempt, max(time.Second, 10*n.RoundTrip))
	}
	c.SafetyMargin = max(c.SafetyMargin, n.skewBudget()-c.clockStep())
	c.StepDownMargin = max(c.StepDownMargin, n.notice())
	return c
}

// fits tells whether a configuration meets all needs but that of the fail-over. If one does, so does a longer TTL.
func (n Needs) fits(c Config) bool {
	return c.TTL >= n.batchTTL() && c.AttemptTimeout >= n.shortestAttempt() && c.Validate() == nil && c.Timing().OutageSurvived >= n.Outage
}

// choose finds the best TTL in a style: the usual one where that meets the needs, else the nearest to it which does.
func (n Needs) choose(s style) (Config, bool) {
	usual := 5 * time.Second
	if n.Zones == MultiZone {
		usual = 15 * time.Second
	}
	usual = max(usual, n.batchTTL())
	least, ok := n.least(s)
	if !ok || !s.brisk && n.Outage > 0 && least.TTL > usual { // a brisk one survives as much under a shorter TTL
		return Config{}, false
	}
	meets := func(ttl time.Duration) bool {
		return n.FailOver == 0 || n.config(s, ttl).Timing().FailOver <= n.FailOver
	}
	ttl := max(least.TTL, min(usual, n.Limits.MaxTTL))
	switch {
	case meets(ttl):
	case !meets(least.TTL):
		return Config{}, false
	default:
		over := sort.Search(n.steps(), func(i int) bool { return !meets(n.step(i)) })
		ttl = max(least.TTL, n.step(over-1))
	}
	c := n.config(s, ttl)
	return c, n.fits(c)
}

// least is the shortest TTL that fits in a style.
func (n Needs) least(s style) (Config, bool) {
	i := sort.Search(n.steps(), func(i int) bool { return n.fits(n.config(s, n.step(i))) })
	c := n.config(s, n.step(i))
	return c, n.fits(c)
}

// finest is up to where TTLs are advised by the tenth of a second; above by the second.
const finest = 100

// step is the i-th of the TTLs that are advised, all of which the store can keep exactly.
func (n Needs) step(i int) time.Duration {
	ttl := time.Duration(i) * 100 * time.Millisecond
	if i > finest {
		ttl = finest*100*time.Millisecond + time.Duration(i-finest)*time.Second
	}
	if g := n.Limits.Granularity; g > 0 {
		ttl = (ttl + g - 1).Truncate(g)
	}
	return ttl
}

// steps is how many there are.
func (n Needs) steps() int {
	most := n.Limits.MaxTTL
	if i := most / (100 * time.Millisecond); i <= finest {
		return int(i)
	}
	return finest + int((most-finest*100*time.Millisecond)/time.Second)
}

// declared is a store of which nothing but the limits is asked.
type declared struct {
	backend.LeaseStore
	limits backend.Limits
}

// Limits implements backend.LeaseStore.
func (d declared) Limits() backend.Limits { return d.limits }
