package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
)

// part is a part of the tables, which has a version of its own.
type part struct {
	name   string
	layout int // the version that this release knows
	text   *string
	what   string // for people
}

var (
	leasePart  = part{"lease", 1, &schemaText, "the tables of tenure are"}
	rosterPart = part{"roster", 1, &rosterSchemaText, "the table tenure_roster, which lists candidates and which leases don't need, is"}
)

// maxIdentifier is the longest name that the server keeps whole, in bytes.
const maxIdentifier = 63

func checkSchema(schema string) error {
	if len(schema) > maxIdentifier || strings.ContainsRune(schema, 0) {
		return fmt.Errorf("%w: %q can't be the name of a schema", backend.ErrInvalid, schema)
	}
	return nil
}

// Migrate makes the tables in o.Schema, or brings those of an earlier release up to date. The pool's role must be allowed to create tables there, and the schema if it isn't there; the other
// options don't matter. Any number of processes may call it at once. Stores call it themselves at their first use when the tables are missing, so that it is only needed where their
// role may not create any. It returns an error that wraps ErrVersion when the tables are of a later release, and ErrDenied when the role may not make them.
func Migrate(ctx context.Context, pool *pgxpool.Pool, o Options) error {
	s, err := New(pool, o)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	return s.migrate(ctx, leasePart)
}

// migrate makes all parts. needed is the one for whose sake it is called; it works in one transaction under a lock that all who migrate take: CREATE … IF NOT EXISTS is no protection, two of them at once fail.
func (s *Store) migrate(ctx context.Context, needed part) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return s.explain(err)
	}
	defer conn.Release()
	if err := s.enter(ctx, conn); err != nil {
		return s.explain(err)
	}
	if err := s.build(ctx, conn); err != nil {
		_, _ = conn.Conn().PgConn().Exec(ctx, "ROLLBACK").ReadAll() // the pool drops the connection if it fails
		if code(err) == "42501" {
			return fmt.Errorf("%w: %s not in schema %q, and this role may not make what is missing; let a role that may call postgres.Migrate, or open the store "+
				"once, and grant this one what deploy/policies/postgres.sql lists: %w", backend.ErrDenied, needed.what, s.options.Schema, err)
		}
		return s.explain(err)
	}
	_, err = s.exchange(ctx, conn, []statement{{sql: "COMMIT"}})
	return s.explain(err)
}

// enter begins the transaction and takes the lock. The server ends it for a client that is frozen within, which would keep everybody else from their first use.
func (s *Store) enter(ctx context.Context, conn *pgxpool.Conn) error {
	_, err := s.exchange(ctx, conn, append(s.opening(ctx), statement{sql: "SELECT pg_advisory_xact_lock(7105123, 1)"}))
	return err
}

// build makes what is missing.
func (s *Store) build(ctx context.Context, conn *pgxpool.Conn) error {
	schema := pgx.Identifier{s.options.Schema}.Sanitize()
	exists := func(sql, name string) (bool, error) {
		all, err := s.exchange(ctx, conn, []statement{{sql, []string{name}}})
		return err == nil && all[0][0][0] == "t", err
	}
	run := func(sql string) error {
		_, err := conn.Conn().PgConn().Exec(ctx, sql).ReadAll()
		return err
	}
	there, err := exists("SELECT to_regnamespace($1) IS NOT NULL", schema)
	if err == nil && !there {
		err = run("CREATE SCHEMA " + schema)
	}
	if err != nil {
		return err
	}
	if there, err = exists("SELECT to_regclass($1) IS NOT NULL", schema+".tenure_schema"); err == nil && !there {
		err = run("CREATE TABLE " + schema + ".tenure_schema (part text PRIMARY KEY, version integer NOT NULL)")
	}
	if err != nil {
		return err
	}
	for _, p := range []part{leasePart, rosterPart} {
		all, err := s.exchange(ctx, conn, []statement{s.layoutOf(p)})
		if err == nil && len(all[0]) > 0 { // it is there, or another process was faster
			err = p.check(all[0])
		} else if err == nil {
			err = run(strings.ReplaceAll(*p.text, "{schema}", schema))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) layoutOf(p part) statement {
	return statement{"SELECT version FROM " + pgx.Identifier{s.options.Schema, "tenure_schema"}.Sanitize() + " WHERE part = $1", []string{p.name}}
}

var errNoLayout = errors.New("the tables are not there")

func (p part) check(r rows) error {
	switch {
	case len(r) == 0:
		return errNoLayout
	case r[0][0] != fmt.Sprint(p.layout):
		return fmt.Errorf("%w: layout %s of the tables (%s), known is %d; upgrade", backend.ErrVersion, r[0][0], p.name, p.layout)
	}
	return nil
}

// need sees to a part's tables.
func (s *Store) need(ctx context.Context, p part) error {
	r, err := s.read(ctx, s.layoutOf(p))
	if err == nil {
		err = p.check(r)
	}
	if missing(err) || errors.Is(err, errNoLayout) {
		err = s.migrate(ctx, p)
	}
	return err
}

// prepare returns the statements for the server, once the tables are there.
func (s *Store) prepare(ctx context.Context) (*statements, error) {
	if texts := s.prepared.Load(); texts != nil {
		return texts, nil
	}
	select {
	case s.preparing <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.preparing }()
	if texts := s.prepared.Load(); texts != nil {
		return texts, nil // another call was faster
	}
	if err := s.need(ctx, leasePart); err != nil {
		return nil, err
	}
	epoch, err := s.epoch(ctx)
	if err != nil {
		return nil, err
	}
	texts := newStatements(s.options.Schema, epoch)
	s.prepared.Store(&texts)
	return &texts, nil
}

// epoch finds out how this server tells its epoch. All who use it find the same.
func (s *Store) epoch(ctx context.Context) (string, error) {
	_, err := s.read(ctx, statement{sql: "SELECT " + expand(timelineEpoch)})
	switch code(err) {
	case "42501", "42883", "0A000": // not allowed, not known, not supported here
		return startEpoch, nil
	}
	return timelineEpoch, err
}
