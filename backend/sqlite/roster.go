package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
)

const upsertEntry = `INSERT INTO tenure_roster (election, candidate, description, note, ttl_ns, expires_ns, boot, wall_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (election, candidate) DO UPDATE SET description = excluded.description, note = excluded.note, ttl_ns = excluded.ttl_ns,
	expires_ns = excluded.expires_ns, boot = excluded.boot, wall_us = excluded.wall_us`

// Entries that have run out, of candidates that died without a word, in all elections. Those of another boot end by the wall clock, which all processes of the host share: a list decides nothing.
const (
	dropOwn   = "DELETE FROM tenure_roster WHERE boot = ? AND expires_ns <= ?"
	dropOther = "DELETE FROM tenure_roster WHERE (boot < ?1 OR boot > ?1) AND wall_us <= ?2"
)

// Enlist implements backend.Roster.
func (s *Store) Enlist(ctx context.Context, e backend.Entry) error {
	return s.do(ctx, func(ctx context.Context, ss *session) error {
		return ss.transaction(ctx, soon, func(ctx context.Context, q querier) error {
			c := s.clock.now() // after the lock: the entry's time begins within the call
			boot, wall := s.clock.boot, c.Wall.UnixMicro()
			if _, err := q.ExecContext(ctx, dropOwn, boot, c.Now); err != nil {
				return err
			}
			if _, err := q.ExecContext(ctx, dropOther, boot, wall); err != nil {
				return err
			}
			_, err := q.ExecContext(ctx, upsertEntry, e.Election, e.Candidate.ID, e.Candidate.Encode(), e.Note, int64(e.TTL), c.Now+int64(e.TTL), boot, wall+e.TTL.Microseconds())
			return err
		})
	})
}

// Delist implements backend.Roster.
func (s *Store) Delist(ctx context.Context, election, candidate string) error {
	return s.do(ctx, func(ctx context.Context, ss *session) error {
		return ss.transaction(ctx, soon, func(ctx context.Context, q querier) error {
			_, err := q.ExecContext(ctx, "DELETE FROM tenure_roster WHERE election = ? AND candidate = ?", election, candidate)
			return err
		})
	})
}

const selectEntries = `SELECT candidate, description, note, ttl_ns FROM tenure_roster
	WHERE election = ?1 AND CASE boot WHEN ?2 THEN expires_ns > ?3 ELSE wall_us > ?4 END ORDER BY candidate`

// Candidates implements backend.Roster. An entry's TTL is the one with which it was enlisted.
func (s *Store) Candidates(ctx context.Context, election string) ([]backend.Entry, error) {
	var entries []backend.Entry
	err := s.do(ctx, func(ctx context.Context, ss *session) error {
		c := s.clock.now()
		rows, err := ss.reader.QueryContext(ctx, selectEntries, election, s.clock.boot, c.Now, c.Wall.UnixMicro())
		if err != nil {
			return err
		}
		entries, err = scanEntries(rows, election)
		return err
	})
	return entries, err
}

func scanEntries(rows *sql.Rows, election string) ([]backend.Entry, error) {
	var entries []backend.Entry
	for rows.Next() {
		e := backend.Entry{Election: election}
		var description string
		var ttl int64
		if err := rows.Scan(&e.Candidate.ID, &description, &e.Note, &ttl); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		e.Candidate.Description, e.TTL = backend.DecodeDescription(description), time.Duration(ttl)
		entries = append(entries, e)
	}
	return entries, errors.Join(rows.Err(), rows.Close())
}
