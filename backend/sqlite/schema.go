package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/backend"
)

// schemaVersion is the layout of the table that this release knows.
const schemaVersion = 1

// The attempt is hexadecimal text and the other columns are plain, so that the sqlite3 tool shows a row as it is.
const createTables = `CREATE TABLE tenure_lease (
	election TEXT PRIMARY KEY, counter INTEGER NOT NULL, holder TEXT NOT NULL, description TEXT NOT NULL, token INTEGER NOT NULL, attempt TEXT NOT NULL,
	ttl_ns INTEGER NOT NULL, expires_ns INTEGER NOT NULL, granted_ns INTEGER NOT NULL, renewals INTEGER NOT NULL, released INTEGER NOT NULL,
	reserved_for TEXT NOT NULL, reserved_ns INTEGER NOT NULL, moved_to TEXT NOT NULL, version INTEGER NOT NULL, boot TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO tenure_schema (part, version) VALUES ('lease', 1);`

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
	if known, err := layoutKnown(ctx, ss.writer); known || err != nil {
		return err
	}
	return ss.transaction(ctx, onDisk, func(ctx context.Context, q querier) error {
		if _, err := q.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS tenure_schema (part TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID"); err != nil {
			return err
		}
		if known, err := layoutKnown(ctx, q); known || err != nil { // another process was faster
			return err
		}
		_, err := q.ExecContext(ctx, createTables)
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

// layoutKnown reports whether the file has this release's layout.
func layoutKnown(ctx context.Context, q querier) (bool, error) {
	var exists bool
	if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'tenure_schema'").Scan(&exists); err != nil || !exists {
		return false, err
	}
	var version int
	err := q.QueryRowContext(ctx, "SELECT version FROM tenure_schema WHERE part = 'lease'").Scan(&version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case version > schemaVersion:
		return false, fmt.Errorf("%w: layout %d of the file, known is %d; upgrade", backend.ErrVersion, version, schemaVersion)
	}
	return true, nil
}
