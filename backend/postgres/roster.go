package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tenure-go/tenure/backend"
)

// Enlist implements backend.Roster.
func (s *Store) Enlist(ctx context.Context, e backend.Entry) error {
	return s.onRoster(ctx, func(ctx context.Context, texts *statements) error {
		enlist := statement{texts.enlist, s.key(e.Election, encode(e.Candidate.ID), e.Candidate.Encode(), encode(e.Note), micros(e.TTL))}
		_, err := s.write(ctx, enlist, statement{texts.prune, s.key(e.Election)})
		return err
	})
}

// Delist implements backend.Roster.
func (s *Store) Delist(ctx context.Context, election, candidate string) error {
	return s.onRoster(ctx, func(ctx context.Context, texts *statements) error {
		_, err := s.write(ctx, statement{texts.delist, s.key(election, encode(candidate))})
		return err
	})
}

// Candidates implements backend.Roster.
func (s *Store) Candidates(ctx context.Context, election string) (entries []backend.Entry, err error) {
	err = s.onRoster(ctx, func(ctx context.Context, texts *statements) error {
		reply, err := s.read(ctx, statement{texts.candidates, s.key(election)})
		if err != nil {
			return err
		}
		for _, r := range reply {
			ttl, err := strconv.ParseInt(r[3], 10, 64)
			if err != nil {
				return fmt.Errorf("the TTL of a roster's entry, %q, is not a number", r[3])
			}
			candidate := backend.Candidate{ID: decode(r[0]), Description: backend.DecodeDescription(r[1])}
			entries = append(entries, backend.Entry{Election: election, Candidate: candidate, Note: decode(r[2]), TTL: span(ttl)})
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b backend.Entry) int { return cmp.Compare(a.Candidate.ID, b.Candidate.ID) })
	return entries, err
}

// onRoster runs a call on the roster, once its table is known to be there. Leases don't need it: a store whose role may not make it elects as ever.
func (s *Store) onRoster(ctx context.Context, f func(context.Context, *statements) error) error {
	return s.do(ctx, func(ctx context.Context, texts *statements) error {
		if !s.rostered.Load() {
			if err := s.need(ctx, rosterPart); err != nil {
				return err
			}
			// What the dead have left behind in elections that nobody uses goes now, once for each store.
			if _, err := s.write(ctx, statement{texts.prune, s.key("")}); err != nil {
				return err
			}
			s.rostered.Store(true)
		}
		err := f(ctx, texts)
		if missing(err) {
			s.rostered.Store(false) // somebody has removed the table
		}
		return err
	})
}
