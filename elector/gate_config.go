package elector

import (
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// GateConfig says for which election a Gate stands, and for how long one tick holds it.
type GateConfig struct {
	// Elector says which election it is. One election stands for one job: two jobs behind one election exclude each other. Its TTL is how long the election is out of reach after
	// a crash; default the greater of 5 s and AtLeast, but no more than the store's maximum. A crash during AtLeast then lets nobody else run the same tick.
	Elector Config
	// AtLeast is how long a tick holds the election at least, counted from when it was granted, also if the work is done sooner: choose it longer than clocks and schedulers
	// of the servers may differ, and shorter than the interval. Zero: no longer than the work takes, so that a server whose clock is behind runs a short job once more.
	AtLeast time.Duration
	// AtMost is how long the work may take: its context ends then. Zero: as long as it likes, so work that hangs holds the election while its process lives.
	AtMost time.Duration
}

// withDefaults fills in what is zero.
func (c GateConfig) withDefaults() GateConfig {
	if c.Elector.TTL == 0 && c.Elector.Store != nil {
		ordinary := Config{}.withDefaults().TTL
		c.Elector.TTL = max(ordinary, min(c.AtLeast, c.Elector.Store.Limits().MaxTTL))
	}
	return c
}

// Validate reports every problem at once, after defaults; each error wraps backend.ErrInvalid and names its field. NewGate calls it.
func (c GateConfig) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("elector: GateConfig.%s: %w: %s", field, backend.ErrInvalid, fmt.Sprintf(format, args...)))
	}
	if c.AtLeast < 0 {
		bad("AtLeast", "%v is negative", c.AtLeast)
	}
	if c.AtMost < 0 {
		bad("AtMost", "%v is negative", c.AtMost)
	}
	if c.AtMost > 0 && c.AtLeast > c.AtMost {
		bad("AtLeast", "%v is longer than AtMost %v", c.AtLeast, c.AtMost)
	}
	return errors.Join(append(errs, c.Elector.Validate())...)
}
