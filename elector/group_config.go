package elector

import (
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/roster"
)

// GroupConfig says which elections to take part in and how.
type GroupConfig struct {
	// Config holds for each election; its own Election must be empty.
	Config
	// Elections are those to begin with; see Group.Add.
	Elections []string
	// MaxTerms is how many elections this candidate leads at most; zero: all. With MaxTerms 1 and the elections of [Slots], up to k candidates lead at a time, one in each slot.
	MaxTerms int
	// Balance shares the elections out: each of the candidates that are listed under Name leads about as many, and hands some over to one that joins. All of them must take part in the same elections. It needs a
	// store with a roster (backend.Roster), and costs a look at it per TTL. Where a candidate has died, the others lead its elections as soon as its leases have ended, and share them out later.
	Balance bool
	// Name is the group's, under which its candidates are listed. Balance needs it.
	Name string
}

// Slots returns the names of k elections which stand for k leaders of one name: see GroupConfig.MaxTerms.
func Slots(name string, k int) []string {
	names := make([]string, k)
	for i := range names {
		names[i] = fmt.Sprintf("%s#%d", name, i+1)
	}
	return names
}

func (c GroupConfig) withDefaults() GroupConfig {
	c.Config = c.Config.withDefaults()
	c.Elections = nil
	return c
}

// Validate reports every problem of the configuration at once, after defaults, as Config.Validate does. NewGroup calls it.
func (c GroupConfig) Validate() error {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("elector: GroupConfig.%s: %w: %s", field, backend.ErrInvalid, fmt.Sprintf(format, args...)))
	}
	if c.Election != "" {
		bad("Config.Election", "%q; a group's elections stand in Elections", c.Election)
	}
	if c.listed() || c.Preference.CanLead != nil {
		bad("Config.Preference", "a group shares its elections out by Balance and MaxTerms; use an Elector for each election that has preferred candidates")
		c.Listed, c.Preference = false, Preference{}
	}
	c.Election = "group"
	errs = append(errs, c.Config.Validate())
	for _, name := range c.Elections {
		if err := backend.CheckName("election", name); err != nil {
			errs = append(errs, fmt.Errorf("elector: GroupConfig.Elections: %w", err))
		}
	}
	if c.MaxTerms < 0 {
		bad("MaxTerms", "%d is negative", c.MaxTerms)
	}
	if c.Balance {
		if err := backend.CheckName("group's name", c.Name); err != nil {
			errs = append(errs, fmt.Errorf("elector: GroupConfig.Name: %w", err))
		}
		if c.Store != nil && !roster.Kept(c.Store) {
			bad("Balance", "the store %q lists no candidates", c.Store.Limits().Store)
		}
	}
	return errors.Join(errs...)
}
