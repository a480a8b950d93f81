package elector

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// ConflictError tells which needs can't be met together. It wraps backend.ErrInvalid.
type ConflictError struct {
	Fields []string // of Needs; one alone when it can't be met at all
	Why    string   // what is possible, in numbers
}

// Error implements error.
func (e *ConflictError) Error() string {
	together := " together"
	if len(e.Fields) == 1 {
		together = ""
	}
	return fmt.Sprintf("elector: Needs.%s can't be met%s: %s", strings.Join(e.Fields, ", Needs."), together, e.Why)
}

// Unwrap returns backend.ErrInvalid.
func (e *ConflictError) Unwrap() error { return backend.ErrInvalid }

// conflict finds which of the needs to give up: each one without which the others can be met, or else all that are stated.
func (n Needs) conflict() error {
	free := n
	free.FailOver = 0
	e := &ConflictError{}
	fastest, possible := free.withDefaults().fastest()
	if possible {
		e.Fields, e.Why = []string{"FailOver"}, fmt.Sprintf("a fail-over takes up to %v then, more than %v", fastest.Round(time.Millisecond), n.FailOver)
	} else {
		e.Why = fmt.Sprintf("that takes a longer TTL than the store's longest, %v", n.withDefaults().Limits.MaxTTL)
	}
	var alone, stated []string
	for _, d := range []struct {
		field  string
		stated bool
		drop   func(*Needs)
	}{
		{"RunTime", n.RunTime > 0, func(n *Needs) { n.RunTime = 0 }},
		{"Outage", n.Outage > 0, func(n *Needs) { n.Outage = 0 }},
		{"RoundTrip", n.RoundTrip > 0, func(n *Needs) { n.RoundTrip = time.Millisecond }},
		{"Zones", n.Zones == MultiZone, func(n *Needs) { n.Zones = SingleZone }},
		{"Limits", n.Limits.MaxTTL > 0, func(n *Needs) { n.Limits = backend.Limits{MinTTL: 1, MaxTTL: longestNeed} }},
	} {
		if !d.stated {
			continue
		}
		stated = append(stated, d.field)
		rest := n
		d.drop(&rest)
		if got, ok := rest.withDefaults().fastest(); ok && (n.FailOver == 0 || got <= n.FailOver) {
			alone = append(alone, d.field)
		}
	}
	if len(alone) == 0 {
		alone = stated
	}
	e.Fields = append(e.Fields, alone...)
	return e
}

// fastest is the shortest fail-over that all other needs allow.
func (n Needs) fastest() (time.Duration, bool) {
	best, found := time.Duration(0), false
	for _, s := range styles {
		if c, ok := n.least(s); ok && (!found || c.Timing().FailOver < best) {
			best, found = c.Timing().FailOver, true
		}
	}
	return best, found
}
