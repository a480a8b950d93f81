package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// durability is what SQLite does at a commit.
type durability string

const (
	// onDisk: a grant counts for ever, since its token may have been shown to others.
	onDisk durability = "PRAGMA synchronous = full"
	// soon: a renewal survives the process, and a restart of the host ends the lease anyway. It must not wait behind a busy disk.
	soon durability = "PRAGMA synchronous = normal"
)

// transaction runs f under the file's write lock and commits, unless f fails or the file was replaced.
func (ss *session) transaction(ctx context.Context, d durability, f func(context.Context, querier) error) error {
	conn, err := ss.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // back to the pool
	if _, err := conn.ExecContext(ctx, string(d)); err != nil {
		return err
	}
	var tx *sql.Tx
	err = retryWhile(ctx, isBusy, ss.busy, func() (err error) {
		tx, err = conn.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := f(ctx, tx); err != nil {
		return err
	}
	if !ss.intact() {
		return errReplaced
	}
	if err := tx.Commit(); err != nil {
		if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}
