package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenure-go/tenure/backend"
)

var (
	// errClosing ends calls that are under way when the store is closed. It isn't ErrClosed, which would say that nothing was changed.
	errClosing = errors.New("the store was closed during the call")
	// errNotDurable says that the server stopped waiting for its replicas: what it has acknowledged may be lost with it.
	errNotDurable = errors.New("the commit was not waited for: it is on this server but may not be on its replicas")
	// errReplica says that the server is read-only.
	errReplica = errors.New("the server is a replica: give all servers in the URL and target_session_attrs=read-write")
	// errSkipped says that the row of a lease was locked by another transaction at the time of a batch.
	errSkipped = errors.New("another transaction has locked the lease's row; it was not renewed")
	// errBusy says that the row changed each time between the look at it and the write.
	errBusy = errors.New("the record changes all the time")
)

// code is the SQLSTATE of an error, or empty.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// missing reports whether the tables, or the schema, are not there.
func missing(err error) bool { return code(err) == "42P01" || code(err) == "3F000" }

// misplaced reports whether the server at the other end is one that can't write, or that goes: another may be in its place by now.
func misplaced(err error) bool {
	switch c := code(err); c {
	case "25006", "55000", "57P01", "57P02", "57P03":
		return true
	default:
		return errors.Is(err, errReplica) || strings.HasPrefix(c, "08")
	}
}

// explain marks what a server's error means, and says what to do. All of them stay unknown.
func (s *Store) explain(err error) error {
	switch c := code(err); {
	case strings.HasPrefix(c, "28"):
		return fmt.Errorf("%w: %w", backend.ErrDenied, err)
	case c == "42501":
		return fmt.Errorf("%w: %w; deploy/policies/postgres.sql has the grants that a role needs", backend.ErrDenied, err)
	case c == "3D000":
		return fmt.Errorf("the database doesn't exist, create it or correct the path of the URL: %w", err)
	case missing(err):
		return fmt.Errorf("the tables of tenure are not in schema %q, see Migrate: %w", s.options.Schema, err)
	case c == "25006" || c == "55000":
		return fmt.Errorf("%w: %w", errReplica, err)
	}
	return err
}
