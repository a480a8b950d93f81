package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/record"
)

// Elections implements backend.Lister.
func (s *Store) Elections(ctx context.Context, after string, limit int) ([]string, error) {
	var names []string
	err := s.do(ctx, func(ctx context.Context, ss *session) error {
		rows, err := ss.reader.QueryContext(ctx, "SELECT election FROM tenure_lease WHERE election > ? ORDER BY election LIMIT ?", after, limit)
		if err != nil {
			return err
		}
		names, err = scanNames(rows)
		return err
	})
	return names, err
}

func scanNames(rows *sql.Rows) ([]string, error) {
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		names = append(names, name)
	}
	return names, errors.Join(rows.Err(), rows.Close())
}

// Forget implements backend.Forgetter. The row goes, and its counter becomes a floor of the tokens of all elections.
func (s *Store) Forget(ctx context.Context, r backend.Record) error {
	return s.do(ctx, func(ctx context.Context, ss *session) error {
		err := ss.transaction(ctx, onDisk, func(ctx context.Context, q querier) error {
			e, c, err := s.entry(ctx, q, r.Election)
			if err != nil || e == (record.Entry{}) {
				return err
			}
			counter, err := e.Forget(r, c)
			if err != nil {
				return err
			}
			return forgetRow(ctx, q, r.Election, counter)
		})
		if err == nil {
			s.observer.seen.Forget(r.Election)
			s.hub.notify(r.Election, state{})
		}
		return err
	})
}

// readFloor reads the highest counter of a forgotten election.
func readFloor(ctx context.Context, q querier) (floor int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT coalesce(max(counter), 0) FROM tenure_floor").Scan(&floor)
	return floor, err
}

func forgetRow(ctx context.Context, q querier, election string, counter int64) error {
	if _, err := q.ExecContext(ctx, "DELETE FROM tenure_lease WHERE election = ?", election); err != nil {
		return err
	}
	_, err := q.ExecContext(ctx, "INSERT INTO tenure_floor (id, counter) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET counter = max(counter, excluded.counter)", counter)
	return err
}
