package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// Open succeeds while the server is away, and the store works when it comes. Calls fail fast meanwhile, and under strict Open fails.
func TestServerAwayAndBack(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	before := client(t, srv.URL())
	l := acquire(t, before, claim("e", "a", time.Minute))
	srv.Kill()
	s := client(t, srv.URL())
	for range 10 { // more than the pool has room for
		_, err := s.Acquire(deadline(t, ample), claim("e", "a", time.Minute))
		class(t, "acquire without a server", err, backend.Unknown)
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), testenv.Password()) {
			t.Fatalf("%v doesn't say where, or too much", err)
		}
	}
	_, err := s.Watch(deadline(t, ample), "e")
	class(t, "watch without a server", err, backend.Unknown)
	_, err = backend.Open(deadline(t, ample), with(t, srv.URL(), "strict", "1"))
	class(t, "strict open without a server", err, backend.Unknown)
	srv.Start()
	settled(t, s)
	if _, err := before.Renew(deadline(t, ample), l); err != nil { // the first call works, although every connection of the pool is dead
		t.Errorf("renewal after a restart: %v", err)
	}
}

// S10, PE41: a frozen server never answers. Each call returns with its context's deadline as unknown, and all is well after.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	l := acquire(t, s, claim("e", "a", time.Minute))
	srv.Freeze()
	calls := map[string]func(context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := s.Acquire(ctx, claim("e", "b", time.Minute)); return err },
		"renew":   func(ctx context.Context) error { _, err := s.Renew(ctx, l); return err },
		"release": func(ctx context.Context) error { return s.Release(ctx, l, backend.Handover{}) },
		"get":     func(ctx context.Context) error { _, err := s.Get(ctx, "e"); return err },
		"watch":   func(ctx context.Context) error { _, err := s.Watch(ctx, "e"); return err },
	}
	for op, call := range calls {
		began := time.Now()
		class(t, op, call(deadline(t, 50*time.Millisecond)), backend.Unknown)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s took %v with a deadline of 50ms", op, took)
		}
	}
	other := client(t, srv.URL()) // while the server is frozen
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	srv.Thaw()
	eventually(t, "it works again", func() bool { _, err := s.Get(deadline(t, ample), "e"); return err == nil })
}

// Connections that the server has ended while they were idle cost no call its outcome.
func TestTerminatedConnections(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	l := acquire(t, s, claim("e", "a", time.Minute))
	for range 5 {
		ended := scan[int](t, admin, "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE application_name = 'tenure'")
		if ended == 0 {
			t.Fatal("there was no connection to end")
		}
		renew(t, s, l)
	}
}

// PE41: a reply that is lost leaves the outcome open. A repeat gives the same token, and a renewal goes on.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	p, u := through(t, srv)
	s, other := client(t, u, "sslmode", "disable"), client(t, srv.URL())
	get(t, s, "e")
	c := claim("e", "a", time.Minute)
	p.DropReplyTo("COMMIT") // of the write: an acquire looks first
	_, err := s.Acquire(deadline(t, ample), c)
	class(t, "acquire whose reply is lost", err, backend.Unknown)
	held := get(t, other, "e")
	if !held.Held() {
		t.Fatal("the request was lost too")
	}
	eventually(t, "the repeat", func() bool { _, err := s.Acquire(deadline(t, ample), c); return err == nil })
	l := acquire(t, s, c)
	if l.Token != held.Token {
		t.Errorf("the repeat has token %d, the grant %d", l.Token, held.Token)
	}
	p.DropReplyTo("COMMIT")
	_, err = s.Renew(deadline(t, ample), l)
	class(t, "renewal whose reply is lost", err, backend.Unknown)
	eventually(t, "the renewal", func() bool { _, err := s.Renew(deadline(t, ample), l); return err == nil })
}

// PE42: a server that was made read-only, as a demoted primary is: calls are unknown, their connections are given up, and it goes on once the server can write.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	l := acquire(t, s, claim("e", "a", time.Minute))
	exec(t, admin, "ALTER SYSTEM SET default_transaction_read_only = on")
	exec(t, admin, "SELECT pg_reload_conf()")
	eventually(t, "renewals are refused", func() bool { _, err := s.Renew(deadline(t, ample), l); return err != nil })
	pids := func() map[int32]bool {
		seen := map[int32]bool{}
		for _, pid := range scan[[]int32](t, admin, "SELECT coalesce(array_agg(pid), '{}') FROM pg_stat_activity WHERE application_name = 'tenure'") {
			seen[pid] = true
		}
		return seen
	}
	before := pids()
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renew on a read-only server", err, backend.Unknown)
	if !errors.Is(err, errReplica) {
		t.Errorf("%v doesn't say what to do", err)
	}
	class(t, "release on a read-only server", s.Release(deadline(t, ample), l, backend.Handover{}), backend.Unknown)
	_, err = s.Acquire(deadline(t, ample), claim("f", "a", time.Minute))
	class(t, "acquire on a read-only server", err, backend.Unknown)
	eventually(t, "the connections were given up", func() bool {
		for pid := range pids() {
			if before[pid] {
				return false
			}
		}
		return true
	})
	exec(t, admin, "SET default_transaction_read_only = off")
	exec(t, admin, "ALTER SYSTEM RESET default_transaction_read_only")
	exec(t, admin, "SELECT pg_reload_conf()")
	eventually(t, "renewals work again", func() bool { _, err := s.Renew(deadline(t, ample), l); return err == nil })
}

// A commit that the server stops waiting for may be lost with it: unknown, not granted. A role's synchronous_commit = off doesn't weaken leases.
func TestUnsynchronousCommit(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Settings: []string{"client_min_messages=error"}})
	admin := raw(t, srv.URL())
	s := client(t, srv.URL(), "timeout", "20s")
	config := must[*pgxpool.Config](t)(pgxpool.ParseConfig(srv.URL()))
	config.ConnConfig.OnNotice = Notice
	pool := must[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), config))
	user := must[*Store](t)(New(pool, Options{Timeout: 20 * time.Second}))
	t.Cleanup(func() { _ = user.Close(); pool.Close() })
	leases := map[string]backend.Lease{}
	stores := map[string]backend.LeaseStore{"own pool": s, "user's pool": user}
	for what, s := range stores {
		leases[what] = acquire(t, s, claim(what, "a", time.Minute))
	}
	exec(t, admin, "SET synchronous_commit = local")
	exec(t, admin, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	exec(t, admin, "SELECT pg_reload_conf()")
	for what, s := range stores {
		eventually(t, "commits wait for a replica", func() bool {
			done := make(chan error, 1)
			ctx := deadline(t, ample)
			go func() { _, err := s.Renew(ctx, leases[what]); done <- err }()
			var err error
			eventually(t, "the commit waits or is done", func() bool {
				select {
				case err = <-done:
					return true
				default:
				}
				_, _ = admin.Exec(ctx, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
				return false
			})
			if err != nil && !errors.Is(err, errNotDurable) {
				t.Fatalf("got %v", err)
			}
			return err != nil
		})
	}
}

// A role whose commits don't wait for replicas doesn't weaken leases: a grant that no synchronous replica has is unknown.
func TestLocalCommit(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true, Settings: []string{"synchronous_standby_names=nobody", "synchronous_commit=local"}})
	s := client(t, srv.URL())
	get(t, s, "e") // makes the tables
	_, err := s.Acquire(deadline(t, time.Second), claim("e", "a", time.Minute))
	class(t, "acquire without a synchronous replica", err, backend.Unknown)
}
