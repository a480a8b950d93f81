package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/record"
)

// listed is an entry and when it runs out, in nanoseconds of the server's clock.
type listed struct {
	backend.Entry
	expires int64
}

// sweepEvery is how often entries that have run out are dropped in all elections.
const sweepEvery = time.Minute

// Enlist implements backend.Roster.
func (s *Store) Enlist(ctx context.Context, e backend.Entry) error {
	return s.within(ctx, func(server *Server, c record.Clock) error {
		server.sweep(c.Now)
		if server.rosters == nil {
			server.rosters = make(map[string]map[string]listed)
		}
		if server.rosters[e.Election] == nil {
			server.rosters[e.Election] = make(map[string]listed)
		}
		server.rosters[e.Election][e.Candidate.ID] = listed{e, c.Now + int64(e.TTL)}
		return nil
	})
}

// Delist implements backend.Roster.
func (s *Store) Delist(ctx context.Context, election, candidate string) error {
	return s.within(ctx, func(server *Server, _ record.Clock) error {
		server.drop(election, candidate)
		return nil
	})
}

// Candidates implements backend.Roster. An entry's TTL is the one with which it was enlisted.
func (s *Store) Candidates(ctx context.Context, election string) ([]backend.Entry, error) {
	var entries []backend.Entry
	err := s.within(ctx, func(server *Server, c record.Clock) error {
		for _, l := range server.rosters[election] {
			if l.expires > c.Now {
				entries = append(entries, l.Entry)
			}
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b backend.Entry) int { return strings.Compare(a.Candidate.ID, b.Candidate.ID) })
	return entries, err
}

// sweep drops the entries of candidates that have died; callers hold mu.
func (s *Server) sweep(now int64) {
	if now-s.swept < int64(sweepEvery) {
		return
	}
	s.swept = now
	for election, list := range s.rosters {
		for candidate, l := range list {
			if l.expires <= now {
				s.drop(election, candidate)
			}
		}
	}
}

// drop takes an entry off; callers hold mu.
func (s *Server) drop(election, candidate string) {
	delete(s.rosters[election], candidate)
	if len(s.rosters[election]) == 0 {
		delete(s.rosters, election)
	}
}
