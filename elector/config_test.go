package elector

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"context"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// EC42: numbers at the edge of their types are refused, or mean what they say.
func TestExtremeSettingsAreRefused(t *testing.T) {
	const huge = time.Duration(math.MaxInt64)
	for field, change := range map[string]func(*Config){
		"ClockDrift":     func(c *Config) { c.ClockDrift = math.NaN() },
		"AttemptTimeout": func(c *Config) { c.AttemptTimeout = huge/2 + 1 },
		"RenewInterval":  func(c *Config) { c.RenewInterval = huge },
		"SafetyMargin":   func(c *Config) { c.SafetyMargin, c.StepDownMargin = huge, huge },
		"StepDownMargin": func(c *Config) { c.StepDownMargin = huge },
	} {
		cfg := config(memory.New(), "a")
		change(&cfg)
		if _, err := New(cfg); !errors.Is(err, backend.ErrInvalid) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// E4: a drain time-out without end is one, not none.
func TestADrainMayLastForEver(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		finish := make(chan struct{})
		cfg := config(server.Client(), "a")
		cfg.DrainTimeout = math.MaxInt64
		a := startWith(t, cfg, func(context.Context, *Term) error { <-finish; return nil })
		term := <-a.terms
		b := start(t, config(server.Client(), "b"))
		a.stop()
		pass(20 * ttl)
		synctest.Wait()
		if !term.Valid() || b.Leading() {
			t.Errorf("valid %v, the other leads %v", term.Valid(), b.Leading())
		}
		close(finish)
		<-b.terms
		_, _ = a.end(), b.end()
	})
}

// stepping is a store whose wall clock may step.
type stepping struct {
	backend.LeaseStore
	by time.Duration
}

func (s stepping) Limits() backend.Limits {
	l := s.LeaseStore.Limits()
	l.ClockStep = s.by
	return l
}

// A store whose clock may step by what stores without a better clock declare works with the defaults, also at a short TTL.
func TestTheDefaultsSuitAStoreWhoseClockMayStep(t *testing.T) {
	for _, by := range []time.Duration{0, 50 * time.Millisecond, 250 * time.Millisecond} {
		for _, ttl := range []time.Duration{2 * time.Second, 5 * time.Second, time.Minute} {
			cfg := config(stepping{memory.New(), by}, "a")
			cfg.TTL = ttl
			if err := cfg.Validate(); err != nil {
				t.Errorf("a clock that may step by %v, TTL %v: %v", by, ttl, err)
			}
		}
	}
}
