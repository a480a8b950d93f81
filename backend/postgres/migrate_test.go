package postgres

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// PE60: many processes make the tables at once, some by Migrate, some by their first call: each succeeds.
func TestConcurrentMigration(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	for _, schema := range []string{"public", `a "schema"; --`} {
		pool := must[*pgxpool.Pool](t)(pgxpool.New(t.Context(), srv.URL()))
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				pool, err := pgxpool.New(t.Context(), srv.URL()+"&pool_max_conns=1")
				if err != nil {
					t.Error(err)
					return
				}
				defer pool.Close()
				if i%2 == 0 {
					if err := Migrate(deadline(t, ample), pool, Options{Schema: schema}); err != nil {
						t.Errorf("migrate: %v", err)
					}
					return
				}
				s, err := New(pool, Options{Schema: schema})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Get(deadline(t, ample), "e"); err != nil {
					t.Errorf("first call: %v", err)
				}
				_ = s.Close()
			})
		}
		all.Wait()
		s := must[*Store](t)(New(pool, Options{Schema: schema}))
		l := acquire(t, s, claim("e", "a", time.Minute))
		renew(t, s, l)
		release(t, s, l)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		pool.Close()
	}
}

// Tables that somebody removes are made again; tokens go on growing, by the server's clock.
func TestTablesRemoved(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	l := acquire(t, s, claim("e", "a", time.Minute))
	exec(t, raw(t, srv.URL()), "DROP TABLE tenure_lease, tenure_schema; DROP FUNCTION tenure_lease_changed")
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renew without tables", err, backend.Unknown)
	_, err = s.Renew(deadline(t, ample), l)
	class(t, "renew in new tables", err, backend.NotHeld)
	if next := acquire(t, s, claim("e", "b", time.Minute)); next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
}

// Tables of a later release are refused and left alone.
func TestLaterLayout(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	client(t, srv.URL())
	exec(t, raw(t, srv.URL()), "UPDATE tenure_schema SET version = version + 1")
	s := client(t, srv.URL())
	_, err := s.Acquire(deadline(t, ample), claim("e", "a", time.Minute))
	if !errors.Is(err, backend.ErrVersion) {
		t.Errorf("got %v, want %v", err, backend.ErrVersion)
	}
	if err := Migrate(deadline(t, ample), inner(t, s).pool, Options{}); !errors.Is(err, backend.ErrVersion) {
		t.Errorf("migrate: got %v, want %v", err, backend.ErrVersion)
	}
}

// PE61: a database that isn't there, and a role that may not make the tables, are told in words that help.
func TestUnusableDatabase(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	u := must[*url.URL](t)(url.Parse(srv.URL()))
	u.Path = "/nowhere"
	s := client(t, u.String())
	_, err := s.Get(deadline(t, ample), "e")
	class(t, "get in a database that isn't there", err, backend.Unknown)
	if err == nil || !strings.Contains(err.Error(), "create it") {
		t.Errorf("%v doesn't help", err)
	}
	exec(t, raw(t, srv.URL()), "CREATE ROLE nobody LOGIN PASSWORD '"+testenv.Password()+"'")
	u = must[*url.URL](t)(url.Parse(srv.URL()))
	u.User = url.UserPassword("nobody", testenv.Password())
	for _, schema := range []string{"public", "other"} {
		s = client(t, u.String(), "schema", schema)
		_, err = s.Get(deadline(t, ample), "e")
		class(t, "get without tables and the right to make them", err, backend.Denied)
		for _, word := range []string{"postgres.Migrate", "deploy/policies/postgres.sql", schema} {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%v doesn't name %s", err, word)
			}
		}
	}
	u.User = url.UserPassword("nobody", "wrong")
	s = client(t, u.String())
	_, err = s.Acquire(deadline(t, ample), claim("e", "a", time.Minute))
	class(t, "acquire with a wrong password", err, backend.Denied)
	_, err = s.Watch(deadline(t, ample), "e")
	class(t, "watch with a wrong password", err, backend.Denied)
}

// A client that is frozen while it makes the tables keeps the others from their first use for no longer than its own call would have taken.
func TestFrozenMigration(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	pool := must[*pgxpool.Pool](t)(pgxpool.New(t.Context(), srv.URL()))
	t.Cleanup(pool.Close)
	frozen := must[*Store](t)(New(pool, Options{Timeout: time.Second}))
	t.Cleanup(func() { _ = frozen.Close() })
	conn := must[*pgxpool.Conn](t)(pool.Acquire(deadline(t, ample)))
	defer conn.Release()
	if err := frozen.enter(t.Context(), conn); err != nil { // and it does nothing from here on
		t.Fatal(err)
	}
	s := client(t, srv.URL(), "timeout", "20s")
	acquire(t, s, claim("e", "a", time.Minute))
}
