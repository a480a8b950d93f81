package redis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// listing is what a roster keeps of a candidate.
type listing struct {
	Description backend.Description `json:"description"`
	Note        string              `json:"note,omitempty"`
}

// Enlist implements backend.Roster.
func (s *Store) Enlist(ctx context.Context, e backend.Entry) error {
	told, err := json.Marshal(listing{e.Candidate.Description, e.Note})
	if err != nil {
		return err
	}
	_, err = s.onRoster(ctx, enlistScript, "enlisted", e.Election, e.Candidate.ID, micros(e.TTL), string(told))
	return err
}

// Delist implements backend.Roster.
func (s *Store) Delist(ctx context.Context, election, candidate string) error {
	_, err := s.onRoster(ctx, delistScript, "delisted", election, candidate)
	return err
}

// Candidates implements backend.Roster.
func (s *Store) Candidates(ctx context.Context, election string) ([]backend.Entry, error) {
	a, err := s.onRoster(ctx, candidatesScript, "candidates", election)
	if err != nil {
		return nil, err
	}
	if len(a.parts)%2 != 0 {
		return nil, unexpected(a)
	}
	entries := make([]backend.Entry, 0, len(a.parts)/2)
	for pair := range slices.Chunk(a.parts, 2) {
		e, err := entry(election, pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b backend.Entry) int { return cmp.Compare(a.Candidate.ID, b.Candidate.ID) })
	return entries, nil
}

// entry reads a field of a roster: see lua/roster.lua.
func entry(election, candidate, value string) (backend.Entry, error) {
	_, rest, _ := strings.Cut(value, " ")
	micros, told, _ := strings.Cut(rest, " ")
	ttl, err := strconv.ParseInt(micros, 10, 64)
	var l listing
	if err == nil {
		err = json.Unmarshal([]byte(told), &l)
	}
	if err != nil {
		return backend.Entry{}, fmt.Errorf("the roster's entry of %q can't be read; somebody else writes to it: %w", candidate, err)
	}
	return backend.Entry{Election: election, Candidate: backend.Candidate{ID: candidate, Description: l.Description}, Note: l.Note, TTL: span(ttl)}, nil
}

// onRoster calls a script on an election's roster.
func (s *Store) onRoster(ctx context.Context, script *goredis.Script, want, election string, args ...any) (answer, error) {
	a, err := s.call(ctx, s.client, script, []string{s.names.roster(election)}, args...)
	if err == nil && a.status != want {
		err = unexpected(a)
	}
	return a, err
}
