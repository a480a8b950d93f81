package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// Fence ties tx, a transaction on the database that keeps the lease, to the lease: once it has returned nil, no other candidate is granted the election and l isn't released
// before tx has ended, so that what tx writes is in place before the next leader's first write. Renewals go on beside it. When the lease is over or another's, it returns an
// error for which errors.Is(err, fence.ErrStale) holds; roll back then.
//
// The transaction must end within the lease. The server ends it when it stands idle for longer than what was left of the lease at the call (from Postgres 17 on: when it
// lasts longer), so that a frozen process blocks its successor for no longer than it would have led; a single statement that runs longer does block it. Its isolation level may be any;
// under the stricter ones a take-over that was faster makes the call fail with a serialization error, and the lease is seen as of the transaction's first statement: make the call early, or a
// lease that was renewed since may count as over. A rollback to a savepoint before the call undoes it. The role of tx needs SELECT on the table, and UPDATE on any column of it.
func (s *Store) Fence(ctx context.Context, tx pgx.Tx, l backend.Lease) error {
	var left string
	err := tx.QueryRow(ctx, s.fence, pgx.QueryExecModeExec, encode(s.options.Prefix), encode(l.Election), encode(l.Holder),
		strconv.FormatInt(l.Token, 10), l.Attempt.String()).Scan(&left, nil)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%w: the lease of %q under token %d is over", fence.ErrStale, l.Election, l.Token)
	}
	return err
}
