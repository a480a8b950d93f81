package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// suite is the conformance suite for stores opened at a URL; admin is a URL for what operators do.
func suite(t *testing.T, open, admin string) conformance.Suite {
	t.Helper()
	alter := func(t conformance.T, sql string, args ...any) {
		server, err := pgxpool.New(t.Context(), admin)
		if err != nil {
			t.Fatalf("connect: %v", err)
		}
		defer server.Close()
		if _, err := server.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := backend.Open(t.Context(), open)
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		},
		Plant: func(t conformance.T, election, moved string, version int) {
			alter(t, `INSERT INTO tenure_lease (prefix, election, moved_to, version) VALUES ('tenure', $1, $2, $3)
				ON CONFLICT (prefix, election) DO UPDATE SET moved_to = excluded.moved_to, version = excluded.version`, encode(election), moved, version)
		},
		Remove: func(t conformance.T, election string) {
			alter(t, "DELETE FROM tenure_lease WHERE prefix = 'tenure' AND election = $1", encode(election))
		},
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Settings: []string{"shared_preload_libraries=pg_stat_statements"}})
	s := suite(t, srv.URL(), srv.URL())
	s.Target, s.Requests = "Postgres", transactions(t, srv.URL())
	s.Server = srv.Addr()
	s.Through = func(t conformance.T, addr string) backend.LeaseStore {
		st, err := backend.Open(t.Context(), strings.Replace(srv.URL(), srv.Addr(), addr, 1))
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		return st
	}
	s.Faults.Restart = func(conformance.T) { srv.Kill(); srv.Start() }
	conformance.Run(t, s)
}

// PE40: a database whose default is another isolation level, and a user's pool with the driver's own defaults.
func TestConformanceWithUserPool(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Settings: []string{"default_transaction_isolation=serializable"}})
	pool := must[*pgxpool.Pool](t)(pgxpool.New(t.Context(), srv.URL()))
	t.Cleanup(pool.Close)
	s := suite(t, "", srv.URL())
	s.Open = func(t conformance.T) backend.LeaseStore {
		s, err := New(pool, Options{})
		if err != nil {
			t.Fatalf("new: %v", err)
		}
		return s
	}
	s.StoreOnly = true
	conformance.Run(t, s)
}

// transactions counts those that clients have ended and the looks outside of any, each of which is a request of ours. The server's own statistics of transactions come seconds late, those of this
// extension at once.
func transactions(t *testing.T, url string) func(conformance.T) int64 {
	t.Helper()
	pool := must[*pgxpool.Pool](t)(pgxpool.New(t.Context(), url))
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), "CREATE EXTENSION pg_stat_statements"); err != nil {
		t.Fatal(err)
	}
	return func(t conformance.T) (n int64) {
		const count = "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements " +
			"WHERE upper(query) IN ('COMMIT', 'ROLLBACK') OR query LIKE '%SELECT version, counter, token%'"
		if err := pool.QueryRow(t.Context(), count).Scan(&n); err != nil {
			t.Fatalf("count: %v", err)
		}
		return n
	}
}

func TestConformanceObserved(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := suite(t, with(t, srv.URL(), "expiry", "observed"), srv.URL())
	s.TTL = 300 * time.Millisecond
	conformance.Run(t, s)
}
