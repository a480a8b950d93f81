package elector

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/roster"
)

// Preference says how eagerly a candidate should lead. Preferred candidates get the election by graceful hand-over: the leader looks at the roster about once per TTL, and where it finds a candidate with a higher score it
// steps down, its work returns, and the election is reserved for that candidate. Its Run campaigns again after that. All candidates of an election should be given the same Score, MinTenure and Cooldown.
//
// A preference is a wish: who has died is listed for a while, a store's roster can be away, and after a crash whoever is fastest leads first.
type Preference struct {
	// Priority is the score unless Score is set; a higher one is preferred.
	Priority int
	// Publish, if set, tells what others should know of this candidate, such as its zone or its free capacity, in 2 KiB or so. It is called at each writing of the entry, about once per three TTLs, and must not
	// block.
	Publish func() map[string]string
	// Score, if set, ranks candidates for a leader, itself among them, by what they publish. NaN is less than any number. It must not block.
	Score func(Standing) float64
	// CanLead, if set, is asked often, ten times per TTL, and must not block. While it says no, this candidate claims nothing, and if it leads it steps down gracefully. A candidate whose CanLead says no is not
	// preferred. On its own it works without a roster, too.
	CanLead func() bool
	// MinTenure is how long a leader leads before a preferred candidate may take over; default three TTLs. A candidate that was seen to lead for a shorter time is barred.
	MinTenure time.Duration
	// Cooldown is for how long a candidate is barred from taking over from a leader: one that left its reservation unused, or that led for too short a time. It holds for a new candidate of the same description too, so that a
	// version which crashes at once isn't preferred again and again. A leader that was asked to step down doesn't take over again for that long either. Default 12 TTLs. It keeps nobody from an election that is free.
	Cooldown time.Duration
}

// Standing is what a listed candidate says of itself.
type Standing struct {
	Candidate  backend.Candidate
	Priority   int
	Ready      bool              // it can lead
	Resting    bool              // it was asked to step down and doesn't take over for a while
	Since      time.Time         // when it was first listed, by its own clock
	Attributes map[string]string // of Preference.Publish
}

// listed reports that the candidate is to be listed.
func (c Config) listed() bool {
	p := c.Preference
	return c.Listed || p.Priority != 0 || p.Publish != nil || p.Score != nil
}

// listingPace is a third of the time from one writing of an entry to the next: a TTL, or less where that is longer than an entry may live.
func (c Config) listingPace() time.Duration { return min(c.TTL, 24*time.Hour/listedFor) }

// longestTenure keeps sums from overflowing.
const longestTenure = time.Duration(math.MaxInt64 / 4)

func (p Preference) withDefaults(ttl time.Duration) Preference {
	ttl = min(ttl, longestTenure/12)
	p.MinTenure = cmp.Or(p.MinTenure, 3*ttl)
	p.Cooldown = cmp.Or(p.Cooldown, 12*ttl)
	return p
}

func (c Config) checkPreference(bad func(field, format string, args ...any)) {
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"MinTenure", c.Preference.MinTenure}, {"Cooldown", c.Preference.Cooldown}} {
		if d.value < 0 || d.value > longestTenure {
			bad("Preference."+d.field, "%v is not within 0 and %v", d.value, longestTenure)
		}
	}
	if c.Listed && !roster.Kept(c.Store) {
		bad("Listed", "the store %q lists no candidates; leave out Listed and Preference but for CanLead", c.Store.Limits().Store)
	}
}

// Candidates returns who is listed as taking part in the election, ordered by ID. A candidate that has died is listed for about four TTLs. It returns an error that wraps backend.ErrInvalid when the store keeps no roster.
func (e *Elector) Candidates(ctx context.Context) ([]Standing, error) {
	lists, _ := backend.As[backend.Roster](e.cfg.Store)
	entries, err := lists.Candidates(ctx, e.cfg.Election)
	if err != nil {
		return nil, err
	}
	standings, _ := sortOut(entries)
	return standings, nil
}

// asked is an operator's request, and the entry in which it stands.
type asked struct {
	id string
	roster.Request
}

// sortOut tells candidates from requests.
func sortOut(entries []backend.Entry) (standings []Standing, requests []asked) {
	for _, entry := range entries {
		switch n := roster.Decode(entry.Note); {
		case n.Request != nil:
			requests = append(requests, asked{entry.Candidate.ID, *n.Request})
		case n.Standing != nil:
			standings = append(standings, standingOf(entry.Candidate, *n.Standing))
		default: // not an elector's, or of a later release
			standings = append(standings, Standing{Candidate: entry.Candidate})
		}
	}
	slices.SortFunc(standings, func(a, b Standing) int { return cmp.Compare(a.Candidate.ID, b.Candidate.ID) })
	return standings, requests
}

func standingOf(c backend.Candidate, s roster.Standing) Standing {
	return Standing{
		Candidate: c, Priority: s.Priority, Ready: s.Ready, Resting: s.Resting,
		Since: time.UnixMilli(s.Since), Attributes: s.Attributes,
	}
}

// score ranks a candidate.
func (p Preference) score(s Standing) float64 {
	if p.Score != nil {
		return p.Score(s)
	}
	return float64(s.Priority)
}

// published is what this candidate publishes, and what is wrong with it: then it is listed without.
func (c Config) published(s roster.Standing) (note string, mine roster.Standing, err error) {
	if c.Preference.Publish != nil {
		s.Attributes = maps.Clone(c.Preference.Publish())
	}
	note, err = roster.Note{Standing: &s}.Encode()
	if err != nil {
		err = fmt.Errorf("elector: Preference.Publish: %w", err)
		s.Attributes = nil
		note, _ = roster.Note{Standing: &s}.Encode() // without them it is short
	}
	return note, s, err
}
