package elector

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/core"
)

// Config says which election to take part in and how. Store and Election are required; every other field has a default that is used when it is zero.
type Config struct {
	// Store keeps the lease. The elector never closes it.
	Store backend.LeaseStore
	// Election is the name of the contest, 1 to backend.MaxName bytes of UTF-8.
	Election string
	// Candidate describes this participant. An empty ID is replaced by host, process id and random digits; App and Host by the program's and the machine's name.
	Candidate backend.Candidate

	// TTL is how long a dead leader keeps the election; default 5 s. Longer leases survive longer outages of the store and make fail-over slower. With the other
	// fields' defaults it must be 1.6 s at least, so that two attempts to renew fit in.
	TTL time.Duration
	// RenewInterval is the time from one renewal to the next; default TTL/3.
	RenewInterval time.Duration
	// AttemptTimeout bounds each request to the store; default TTL/4, less a half of the store's Limits.ClockStep.
	AttemptTimeout time.Duration
	// SafetyMargin is how long before the lease's end belief in it ends; default the greater of TTL/20 and 100 ms.
	SafetyMargin time.Duration
	// StepDownMargin is how long before the end of belief the work is cancelled, so that it has time to stop; default TTL/10.
	StepDownMargin time.Duration
	// ClockDrift is by how much the rates of this machine's and of the store's clock may differ from true time; default 0.002.
	ClockDrift float64
	// DrainTimeout is how long a leader that steps down on purpose waits, and renews, for its work to return; default 30 s. After that it stops renewing and
	// releases nothing.
	DrainTimeout time.Duration
	// Cooldown is how long to stay away after a term was lost; default none.
	Cooldown time.Duration

	// Listed lists this candidate in the store's roster (backend.Roster) while it campaigns or leads, for Candidates, 'tenure candidates' and those who ask the leader to step down. It costs a write per three TTLs,
	// and the leader a look per TTL. A Preference with a Priority, Publish or Score implies it. What goes wrong with the roster harms no lease.
	Listed bool
	// Preference says how eagerly this candidate should lead; the zero value: no more than others.
	Preference Preference

	// Guards are sealed with each new term's token before its work begins. While one can't be sealed, nobody works; after min(deadline, TTL) the term is given up.
	Guards []fence.Sealer

	// Events, if set, is told each transition, in order, on a goroutine that is not the heartbeat's: it may be slow without harm. It must not call Close.
	Events func(Event)
	// OnOverrun, if set, is called when work outlives its lease: another leader may be at work beside it from now on. Default: log at error level.
	// ExitProcess is a value for it. It must not call Close.
	OnOverrun func(Overrun)
	// Logger gets what happens; default slog.Default().
	Logger *slog.Logger
}

// Overrun tells that a term's work goes on although its lease has ended.
type Overrun struct {
	Election string
	Token    fence.Token
	Cause    error // why the term ended
}

// ExitProcess ends the process at once, with exit status 70: for Config.OnOverrun, when nothing may go on beside a successor.
func ExitProcess(Overrun) { os.Exit(70) }

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	def := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	def(&c.TTL, 5*time.Second)
	def(&c.RenewInterval, c.TTL/3)
	def(&c.AttemptTimeout, max(c.TTL/8, c.TTL/4-c.clockStep()/2))
	def(&c.SafetyMargin, max(c.TTL/20, 100*time.Millisecond))
	def(&c.StepDownMargin, c.TTL/10)
	def(&c.DrainTimeout, 30*time.Second)
	if c.ClockDrift == 0 {
		c.ClockDrift = 0.002
	}
	c.Listed = c.listed()
	c.Preference = c.Preference.withDefaults(c.TTL)
	if c.Candidate.Host == "" {
		c.Candidate.Host, _ = os.Hostname()
	}
	if c.Candidate.App == "" {
		c.Candidate.App = filepath.Base(os.Args[0])
	}
	if c.Candidate.ID == "" {
		c.Candidate.ID = newID(c.Candidate.Host)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// clockStep is by how much the store's clock may step.
func (c Config) clockStep() time.Duration {
	if c.Store == nil {
		return 0
	}
	return max(0, c.Store.Limits().ClockStep)
}

func newID(host string) string {
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic("elector: no random numbers: " + err.Error()) // crypto/rand does not fail on supported systems
	}
	if host == "" {
		host = "candidate"
	}
	return fmt.Sprintf("%.200s-%d-%s", host, os.Getpid(), hex.EncodeToString(random[:]))
}

// Validate reports every problem of the configuration at once, after defaults; each error wraps backend.ErrInvalid and names its field. New calls it.
func (c Config) Validate() error {
	if c.Store == nil {
		return fmt.Errorf("elector: Config.Store: %w: it is nil; open one with backend.Open", backend.ErrInvalid)
	}
	c = c.withDefaults()
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("elector: Config.%s: %w: %s", field, backend.ErrInvalid, fmt.Sprintf(format, args...)))
	}
	if err := backend.CheckName("election", c.Election); err != nil {
		errs = append(errs, fmt.Errorf("elector: Config.Election: %w", err))
	}
	if err := backend.CheckName("candidate's ID", c.Candidate.ID); err != nil {
		errs = append(errs, fmt.Errorf("elector: Config.Candidate.ID: %w", err))
	}
	limits := c.Store.Limits()
	switch {
	case c.TTL < limits.MinTTL:
		bad("TTL", "%v is below the store's minimum %v", c.TTL, limits.MinTTL)
	case c.TTL > limits.MaxTTL:
		bad("TTL", "%v is above the store's maximum %v", c.TTL, limits.MaxTTL)
	}
	c.checkDurations(bad)
	if !(c.ClockDrift >= 0 && c.ClockDrift <= 0.5) { // NaN is neither
		bad("ClockDrift", "%v is not within 0 and 0.5", c.ClockDrift)
	}
	c.checkPreference(bad)
	for i, g := range c.Guards {
		if g == nil {
			bad("Guards", "guard %d is nil", i)
		}
	}
	if len(errs) == 0 {
		if err := c.checkTiming(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c Config) checkDurations(bad func(field, format string, args ...any)) {
	const forever = time.Duration(math.MaxInt64)
	for _, d := range []struct {
		field       string
		value, most time.Duration
	}{
		{"RenewInterval", c.RenewInterval, c.TTL}, // the sums below can't overflow then
		{"AttemptTimeout", c.AttemptTimeout, c.TTL},
		{"SafetyMargin", c.SafetyMargin, c.TTL},
		{"StepDownMargin", c.StepDownMargin, c.TTL},
		{"DrainTimeout", c.DrainTimeout, forever},
		{"Cooldown", c.Cooldown, forever},
	} {
		switch {
		case d.value < 0:
			bad(d.field, "%v is negative", d.value)
		case d.value > d.most && c.TTL > 0:
			bad(d.field, "%v is longer than the TTL %v", d.value, c.TTL)
		}
	}
}

// checkTiming demands room for two full renewal attempts before work is cancelled: one late reply must not cost the leadership.
func (c Config) checkTiming() error {
	soft, _ := c.margins().Deadlines(c.TTL)
	if need := c.RenewInterval + 2*c.AttemptTimeout; need > soft {
		return fmt.Errorf("elector: Config.TTL: %w: %v leaves no room for two renewal attempts: RenewInterval %v + 2 × AttemptTimeout %v = %v, but work is cancelled %v after a renewal; "+
			"make TTL longer or the others shorter (%v)", backend.ErrInvalid, c.TTL, c.RenewInterval, c.AttemptTimeout, need, soft, c.Timing())
	}
	return nil
}

// reservation is how long a successor has time to come.
func (c Config) reservation() time.Duration { return min(c.TTL, 2*c.AttemptTimeout) }

func (c Config) margins() core.Margins {
	return core.Margins{
		Safety: c.SafetyMargin, StepDown: c.StepDownMargin,
		DriftPPM: int64(c.ClockDrift*1e6 + 0.5), Step: c.clockStep(),
	}
}
