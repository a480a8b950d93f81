package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/testenv"
)

func begin(t *testing.T, c *pgx.Conn, level pgx.TxIsoLevel) pgx.Tx {
	t.Helper()
	return must[pgx.Tx](t)(c.BeginTx(deadline(t, ample), pgx.TxOptions{IsoLevel: level}))
}

// DX8: a write that is fenced by a term can't be committed after the term was released or lost, nor after a later term of the same candidate has begun.
func TestFenceRefusesEarlierTerms(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, c := client(t, srv.URL()), raw(t, srv.URL())
	in := inner(t, s)
	first := acquire(t, s, claim("e", "a", time.Minute))
	release(t, s, first)
	released := first
	second := acquire(t, s, claim("e", "b", 100*time.Millisecond))
	eventually(t, "the lease is over", func() bool { return !get(t, s, "e").Held() })
	expired := second
	third := acquire(t, s, claim("e", "a", time.Minute))
	other := third
	other.Attempt = draw()
	for what, l := range map[string]backend.Lease{"released": released, "expired": expired, "another attempt": other} {
		for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
			tx := begin(t, c, level)
			if err := in.Fence(deadline(t, ample), tx, l); !errors.Is(err, fence.ErrStale) {
				t.Errorf("%s, %s: got %v, want stale", what, level, err)
			}
			_ = tx.Rollback(deadline(t, ample)) // it is over
		}
	}
	tx := begin(t, c, pgx.ReadCommitted)
	if err := in.Fence(deadline(t, ample), tx, third); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(deadline(t, ample)); err != nil {
		t.Error(err)
	}
}

// While a fenced transaction is open the leader renews, nobody is granted, and the lease isn't released. DX8: so no transaction outlives its own release.
func TestFenceHoldsTheLease(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, c := client(t, srv.URL()), raw(t, srv.URL())
	exec(t, c, "CREATE TABLE work (n int)")
	l := acquire(t, s, claim("e", "a", time.Minute))
	tx := begin(t, c, pgx.ReadCommitted)
	if err := inner(t, s).Fence(deadline(t, ample), tx, l); err != nil {
		t.Fatal(err)
	}
	renew(t, s, l)
	class(t, "release under an open fence", s.Release(deadline(t, 200*time.Millisecond), l, backend.Handover{}), backend.Unknown)
	if r := get(t, s, "e"); !r.Held() {
		t.Fatalf("released under an open fence: %v", r)
	}
	if _, err := tx.Exec(deadline(t, ample), "INSERT INTO work VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	operator := raw(t, srv.URL())
	exec(t, operator, "SET lock_timeout = '100ms'")
	if _, err := operator.Exec(deadline(t, ample), "UPDATE tenure_lease SET token = token + 1"); code(err) != "55P03" {
		t.Errorf("a plain write of the token beside an open fence: got %v, want a lock time-out", err)
	}
	done := make(chan error, 1)
	ctx := deadline(t, ample)
	go func() { done <- s.Release(ctx, l, backend.Handover{}) }()
	waiting(t, raw(t, srv.URL()), 1)
	if err := tx.Commit(deadline(t, ample)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// DX18: a transaction that is frozen keeps its successor out for no longer than the lease would have.
func TestFrozenFence(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, c := client(t, srv.URL()), raw(t, srv.URL())
	exec(t, c, "CREATE TABLE work (n int)")
	l := acquire(t, s, claim("e", "a", time.Second))
	tx := begin(t, c, pgx.ReadCommitted)
	if err := inner(t, s).Fence(deadline(t, ample), tx, l); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(deadline(t, ample), "INSERT INTO work VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	next := claim("e", "b", time.Minute) // the transaction's client does nothing from here on
	eventually(t, "another leads", func() bool { _, err := s.Acquire(deadline(t, ample), next); return err == nil })
	if err := tx.Commit(deadline(t, ample)); err == nil {
		t.Error("a frozen transaction was committed after the take-over")
	}
	if n := scan[int](t, raw(t, srv.URL()), "SELECT count(*) FROM work"); n != 0 {
		t.Error("the write of a frozen transaction is there")
	}
}

// A transaction that is at work when its lease ends keeps the successor waiting until it has ended: there is no moment at which it could commit beside another leader.
func TestFenceBlocksTakeOver(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, c, watcher := client(t, srv.URL()), raw(t, srv.URL()), raw(t, srv.URL())
	l := acquire(t, s, claim("e", "a", 500*time.Millisecond))
	tx := begin(t, c, pgx.ReadCommitted)
	if err := inner(t, s).Fence(deadline(t, ample), tx, l); err != nil {
		t.Fatal(err)
	}
	ctx := deadline(t, 2*ample)
	done := make(chan error, 1)
	go func() { _, err := tx.Exec(ctx, "SELECT pg_sleep(3600)"); done <- err }()
	eventually(t, "the lease is over", func() bool { return !get(t, s, "e").Held() })
	next := claim("e", "b", time.Minute)
	granted := make(chan error, 1)
	go func() { _, err := s.Acquire(ctx, next); granted <- err }()
	waiting(t, watcher, 1)
	exec(t, watcher, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)' AND pid <> pg_backend_pid()")
	if err := <-done; err == nil {
		t.Error("the statement was to be cancelled")
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Error(err)
	}
	if err := <-granted; err != nil {
		t.Errorf("after the transaction: %v", err)
	}
}

// PE28: a transaction under a stricter level sees the row as it was at its first statement, before renewals or a release. The fence holds all the same.
func TestFenceUnderAnOldSnapshot(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, c := client(t, srv.URL()), raw(t, srv.URL())
	in := inner(t, s)
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		old := func(l backend.Lease, then func()) (pgx.Tx, error) {
			tx := begin(t, c, level)
			if n := must[int64](t)(seen(t, tx)); n == 0 {
				t.Fatal("the snapshot has no row")
			}
			then()
			return tx, in.Fence(deadline(t, ample), tx, l)
		}
		l := acquire(t, s, claim("renewed, "+string(level), "a", time.Second))
		tx, err := old(l, func() { renew(t, s, l); renew(t, s, l) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(deadline(t, ample), "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the lease is over", func() bool { return !get(t, s, l.Election).Held() })
		_, err = s.Acquire(deadline(t, 300*time.Millisecond), claim(l.Election, "b", time.Minute))
		class(t, "take-over beside a fence of an old snapshot", err, backend.Unknown)
		if err := tx.Commit(deadline(t, ample)); err != nil {
			t.Error(err)
		}
		l = acquire(t, s, claim("released, "+string(level), "a", time.Minute))
		tx, err = old(l, func() { release(t, s, l) })
		if code(err) != "40001" {
			t.Errorf("%s: a fence by a lease that was released after the snapshot: got %v, want a serialization failure", level, err)
		}
		_ = tx.Rollback(deadline(t, ample)) // it has failed
	}
}

// seen takes a transaction's snapshot.
func seen(t *testing.T, tx pgx.Tx) (n int64, err error) {
	err = tx.QueryRow(deadline(t, ample), "SELECT count(*) FROM tenure_lease").Scan(&n)
	return n, err
}

// The longest lease, and the longest time-out, are more milliseconds than the server's settings take.
func TestLongTimes(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "timeout", "10000h")
	l, err := s.Acquire(t.Context(), claim("e", "a", 365*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	tx := begin(t, raw(t, srv.URL()), pgx.ReadCommitted)
	if err := inner(t, s).Fence(deadline(t, ample), tx, l); err != nil {
		t.Error(err)
	}
}
