package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
)

// statement is a text with its arguments, all in the server's text form.
type statement struct {
	sql  string
	args []string
}

// rows are a statement's reply, in text form.
type rows [][]string

// begin ties a call to the store's life and to Options.Timeout: none starts after Close, and Close ends it. The caller runs end.
func (s *Store) begin(ctx context.Context) (tied context.Context, end func(), err error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, backend.ErrClosed
	}
	s.calls.Add(1)
	tied, cancel := context.WithCancelCause(ctx)
	tied, stop := context.WithTimeout(tied, s.options.Timeout)
	unbind := context.AfterFunc(s.life, func() { cancel(errClosing) })
	return tied, func() {
		unbind()
		stop()
		cancel(nil)
		s.calls.Done()
	}, nil
}

// do runs a call of the contract: f gets the statements, once the tables are known to be there.
func (s *Store) do(ctx context.Context, f func(context.Context, *statements) error) error {
	tied, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	texts, err := s.prepare(tied)
	if err == nil {
		if err = f(tied, texts); missing(err) {
			s.prepared.Store(nil) // somebody has removed the tables
		}
	}
	switch {
	case err == nil:
		s.contact() //nolint:contextcheck // the look at the server outlives the call
		return nil
	case backend.ClassOf(err) == backend.Unknown && tied.Err() != nil:
		return errors.Join(context.Cause(tied), err)
	}
	return s.explain(err)
}

// read runs one statement that changes nothing.
func (s *Store) read(ctx context.Context, st statement) (rows, error) {
	all, err := s.request(ctx, []statement{st})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// write runs statements as one transaction, in one request.
func (s *Store) write(ctx context.Context, sts ...statement) ([]rows, error) {
	before := s.opening(ctx)
	all, err := s.request(ctx, append(append(before, sts...), statement{sql: "COMMIT"}))
	if err != nil {
		return nil, err
	}
	return all[len(before) : len(before)+len(sts)], nil
}

// opening begins a transaction. The isolation level is pinned: under a stricter one the loser of a race gets an error for an answer. Time limits are the server's too, so
// that it doesn't work on when the caller has given up.
func (s *Store) opening(ctx context.Context) []statement {
	left := s.options.Timeout
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end)
	}
	ms := func(d time.Duration) string {
		return strconv.FormatInt(min(max(1, d.Milliseconds()), math.MaxInt32), 10)
	} // what the settings take
	return []statement{{sql: "BEGIN ISOLATION LEVEL READ COMMITTED"}, {sql: frame, args: []string{ms(left), ms(left / 10 * 9)}}}
}

// request sends statements together and reads their replies. It is repeated only where nothing was sent: an idle connection may have died unseen.
func (s *Store) request(ctx context.Context, sts []statement) ([]rows, error) {
	for tries := s.pool.Stat().MaxConns(); ; tries-- {
		all, err := s.once(ctx, sts)
		_, away := errors.AsType[*pgconn.ConnectError](err)
		if err == nil || tries <= 0 || ctx.Err() != nil || code(err) != "" || away || !pgconn.SafeToRetry(err) {
			return all, err
		}
	}
}

func (s *Store) once(ctx context.Context, sts []statement) ([]rows, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release() // a connection that was closed or is in a transaction leaves the pool
	return s.exchange(ctx, conn, sts)
}

// exchange runs statements on one connection.
func (s *Store) exchange(ctx context.Context, conn *pgxpool.Conn, sts []statement) ([]rows, error) {
	pg := conn.Conn().PgConn()
	delete(pg.CustomData(), warned)
	// Unnamed statements: named ones don't go through a pooler in transaction mode.
	batch := &pgconn.Batch{}
	for _, st := range sts {
		batch.ExecParams(st.sql, values(st.args), nil, nil, nil)
	}
	results, err := pg.ExecBatch(ctx, batch).ReadAll()
	if err == nil && len(results) != len(sts) {
		err = errors.New("the server's reply has too few results")
	}
	if err != nil {
		s.settle(ctx, conn, err)
		if errors.Is(err, pgconn.ErrConnClosed) {
			err = fmt.Errorf("the server has ended the connection: %w", err)
		}
		return nil, err
	}
	if pg.CustomData()[warned] != nil {
		return nil, errNotDurable
	}
	all := make([]rows, len(results))
	for i, r := range results {
		all[i] = texts(r.Rows)
	}
	return all, nil
}

// settle leaves a connection as the next call needs it after an error, or gives it up.
func (s *Store) settle(ctx context.Context, conn *pgxpool.Conn, err error) {
	pg := conn.Conn().PgConn()
	switch {
	case misplaced(err):
		s.drop(ctx, conn)
	case !pg.IsClosed() && pg.TxStatus() == 'E' && ctx.Err() == nil:
		_, _ = pg.Exec(ctx, "ROLLBACK").ReadAll() // else the pool drops the connection
	}
}

// drop gives up a connection to a server that can't write, and with a pool of our own the others too: the name may lead to another server by now.
func (s *Store) drop(ctx context.Context, conn *pgxpool.Conn) {
	_ = conn.Conn().Close(ctx) // it is given up
	if s.own != nil {
		s.pool.Reset()
	}
}

func values(args []string) [][]byte {
	v := make([][]byte, len(args))
	for i, a := range args {
		v[i] = []byte(a)
	}
	return v
}

func texts(table [][][]byte) rows {
	all := make(rows, len(table))
	for i, row := range table {
		all[i] = make([]string, len(row))
		for k, v := range row {
			all[i][k] = string(v) // no column is null
		}
	}
	return all
}

// warned marks a connection on which the server has told that it did not wait for a commit.
const warned = "tenure: commit was not waited for"

// Notice notes on a connection that the server has acknowledged a commit for which it has not waited for its replicas, as when somebody cancels that wait. A store takes such an answer for an
// unknown outcome. Connections of a store that was opened by URL have it; for a pool of your own on a server with synchronous replicas, set it as ConnConfig.OnNotice,
// or call it from there. It does nothing for other notices.
func Notice(c *pgconn.PgConn, n *pgconn.Notice) {
	// The text is in the server's language, the name of the function that sends it is not.
	if n.Code == "01000" && n.Routine == "SyncRepWaitForLSN" {
		c.CustomData()[warned] = true
	}
}
