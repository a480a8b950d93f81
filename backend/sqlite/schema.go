package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/backend"
)

// layouts are the steps from each layout of the tables to the next; the number of them is the layout that this release knows. A release that doesn't know the file's layout refuses it: one which
// knows no floor would draw tokens below those of forgotten elections.
//
// Attempts are hexadecimal text and the other columns are plain, so that the sqlite3 tool shows a row as it is.
var layouts = []string{
	`CREATE TABLE tenure_lease (
		election TEXT PRIMARY KEY, counter INTEGER NOT NULL, holder TEXT NOT NULL, description TEXT NOT NULL, token INTEGER NOT NULL, attempt TEXT NOT NULL,
		ttl_ns INTEGER NOT NULL, expires_ns INTEGER NOT NULL, granted_ns INTEGER NOT NULL, renewals INTEGER NOT NULL, released INTEGER NOT NULL,
		reserved_for TEXT NOT NULL, reserved_ns INTEGER NOT NULL, moved_to TEXT NOT NULL, version INTEGER NOT NULL, boot TEXT NOT NULL
	) STRICT, WITHOUT ROWID;`,
	`CREATE TABLE tenure_floor (id INTEGER PRIMARY KEY CHECK (id = 1), counter INTEGER NOT NULL) STRICT;
	CREATE TABLE tenure_roster (
		election TEXT NOT NULL, candidate TEXT NOT NULL, description TEXT NOT NULL, note TEXT NOT NULL, ttl_ns INTEGER NOT NULL,
		expires_ns INTEGER NOT NULL, boot TEXT NOT NULL, wall_us INTEGER NOT NULL, PRIMARY KEY (election, candidate)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX tenure_roster_end ON tenure_roster (boot, expires_ns);`,
}

// migrate brings a file, new or of an earlier release, to this release's layout. Any number of processes may do so at once.
func migrate(ctx context.Context, ss *session) error {
	if err := checkOwner(ctx, ss.writer); err != nil {
		return err
	}
	var mode string
	if err := ss.writer.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w: SQLite can't keep a write-ahead log for %s on this file system (journal mode %s); use a local one", backend.ErrInvalid, ss.path, mode)
	}
	if have, err := layoutOf(ctx, ss.writer); have == len(layouts) || err != nil {
		return err
	}
	return ss.transaction(ctx, onDisk, func(ctx context.Context, q querier) error {
		if _, err := q.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS tenure_schema (part TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID"); err != nil {
			return err
		}
		have, err := layoutOf(ctx, q)
		if err != nil {
			return err
		}
		for _, step := range layouts[have:] { // none, if another process was faster
			if _, err := q.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		_, err = q.ExecContext(ctx, "INSERT INTO tenure_schema (part, version) VALUES ('lease', ?) ON CONFLICT (part) DO UPDATE SET version = excluded.version", len(layouts))
		return err
	})
}

// checkOwner refuses a database of another program: it would be changed to WAL mode and get our tables.
func checkOwner(ctx context.Context, q querier) error {
	var table string
	err := q.QueryRowContext(ctx, `SELECT name FROM sqlite_schema WHERE name NOT GLOB 'tenure_*' AND name NOT GLOB 'sqlite_*' LIMIT 1`).Scan(&table)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: the file is a database of another program (it has a table %q); give tenure a file of its own", backend.ErrInvalid, table)
}

// layoutOf returns the file's layout; zero is that of a new file.
func layoutOf(ctx context.Context, q querier) (int, error) {
	var exists bool
	if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'tenure_schema'").Scan(&exists); err != nil || !exists {
		return 0, err
	}
	var version int
	err := q.QueryRowContext(ctx, "SELECT version FROM tenure_schema WHERE part = 'lease'").Scan(&version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, err
	case version > len(layouts):
		return 0, fmt.Errorf("%w: layout %d of the file, known is %d; upgrade", backend.ErrVersion, version, len(layouts))
	}
	return version, nil
}
