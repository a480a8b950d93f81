package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/record"
)

// stored is a row: an entry and the clock on which its times are.
type stored struct {
	record.Entry
	boot string
}

// querier is a transaction or a pool.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

const selectRow = `SELECT counter, holder, description, token, attempt, ttl_ns, expires_ns, granted_ns, renewals, released,
	reserved_for, reserved_ns, moved_to, version, boot FROM tenure_lease WHERE election = ?`

// readRow reads an election's row. One that isn't there is the zero row.
func readRow(ctx context.Context, q querier, election string) (stored, error) {
	var r stored
	var description, attempt string
	var ttl int64
	err := q.QueryRowContext(ctx, selectRow, election).Scan(&r.Counter, &r.Holder.ID, &description, &r.Token, &attempt, &ttl, &r.Expires, &r.Granted,
		&r.Renewals, &r.Released, &r.ReservedFor, &r.Reserved, &r.MovedTo, &r.Version, &r.boot)
	if errors.Is(err, sql.ErrNoRows) {
		return stored{}, nil
	}
	if err != nil {
		return stored{}, err
	}
	if r.Attempt, err = fence.ParseAttempt(attempt); err != nil {
		return stored{}, fmt.Errorf("the row of election %q is damaged: %w", election, err)
	}
	r.TTL = time.Duration(ttl)
	if r.Holder.ID != "" {
		r.Holder.Description = backend.DecodeDescription(description)
	}
	return r, nil
}

const upsertRow = `INSERT INTO tenure_lease (election, counter, holder, description, token, attempt, ttl_ns, expires_ns, granted_ns, renewals, released,
	reserved_for, reserved_ns, moved_to, version, boot) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (election) DO UPDATE SET counter = excluded.counter, holder = excluded.holder, description = excluded.description,
	token = excluded.token, attempt = excluded.attempt, ttl_ns = excluded.ttl_ns, expires_ns = excluded.expires_ns, granted_ns = excluded.granted_ns,
	renewals = excluded.renewals, released = excluded.released, reserved_for = excluded.reserved_for, reserved_ns = excluded.reserved_ns,
	moved_to = excluded.moved_to, version = excluded.version, boot = excluded.boot`

func writeRow(ctx context.Context, q querier, election string, r stored) error {
	_, err := q.ExecContext(ctx, upsertRow, election, r.Counter, r.Holder.ID, r.Holder.Description.Encode(), r.Token, r.Attempt.String(), int64(r.TTL),
		r.Expires, r.Granted, r.Renewals, r.Released, r.ReservedFor, r.Reserved, r.MovedTo, r.Version, r.boot)
	return err
}
