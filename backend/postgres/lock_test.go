package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// lock holds an election's row as an operator's forgotten transaction does, and returns the function that lets go.
func lock(t *testing.T, c *pgx.Conn, election, how string) (unlock func()) {
	t.Helper()
	exec(t, c, "BEGIN")
	exec(t, c, "SELECT 1 FROM tenure_lease WHERE election = $1 "+how, encode(election))
	return func() { t.Helper(); exec(t, c, "ROLLBACK") }
}

// waiting waits until n statements wait for a lock.
func waiting(t *testing.T, c *pgx.Conn, n int) {
	t.Helper()
	eventually(t, fmt.Sprint(n, " statements wait for a lock"), func() bool {
		return scan[int](t, c, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == n
	})
}

// DX21, PE28: a call that waited behind a lock past the lease's end doesn't revive the lease, and one that waited and is granted has its whole TTL before it.
func TestLockWaitRevivesNothing(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "timeout", "20s")
	operator, watcher := raw(t, srv.URL()), raw(t, srv.URL())
	const ttl = 300 * time.Millisecond
	for _, how := range []string{"FOR UPDATE", "FOR NO KEY UPDATE", "FOR SHARE"} {
		c := claim("e"+how, "a", ttl)
		calls := map[string]func(context.Context, backend.Lease) error{
			"renew": func(ctx context.Context, l backend.Lease) error { _, err := s.Renew(ctx, l); return err },
			"release": func(ctx context.Context, l backend.Lease) error {
				return s.Release(ctx, l, backend.Handover{To: "b", For: ttl})
			},
			"repeat": func(ctx context.Context, _ backend.Lease) error { _, err := s.Acquire(ctx, c); return err },
		}
		for what, call := range calls {
			c = claim(c.Election+"/"+what, "a", ttl)
			l := acquire(t, s, c)
			unlock := lock(t, operator, c.Election, how)
			done := make(chan error, 1)
			ctx := deadline(t, ample)
			go func() { done <- call(ctx, l) }()
			waiting(t, watcher, 1)
			eventually(t, "the lease is over", func() bool {
				return scan[bool](t, watcher, "SELECT lease_until < clock_timestamp() FROM tenure_lease WHERE election = $1", c.Election)
			})
			unlock()
			if err := <-done; !errors.Is(err, backend.ErrNotHeld) {
				t.Errorf("%s behind %s past the lease's end: got %v, want not held", what, how, err)
			}
			if r := get(t, s, c.Election); r.Held() || r.Reserved.For > 0 {
				t.Errorf("%s behind %s: the record is %v", what, how, r)
			}
		}
	}
}

// The TTL of a grant, and of a renewal, counts from after the wait for a lock.
func TestLockWaitCostsNoTTL(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "timeout", "20s")
	operator, watcher := raw(t, srv.URL()), raw(t, srv.URL())
	l := acquire(t, s, claim("e", "a", time.Minute))
	ctx := deadline(t, ample)
	calls := []func() error{
		func() error { _, err := s.Renew(ctx, l); return err },
		func() error { return s.Release(ctx, l, backend.Handover{}) },
		func() error { _, err := s.Acquire(ctx, claim("e", "b", time.Minute)); return err },
	}
	for i, call := range calls {
		unlock := lock(t, operator, "e", "FOR UPDATE")
		done := make(chan error, 1)
		go func() { done <- call() }()
		waiting(t, watcher, 1)
		began := scan[time.Time](t, watcher, "SELECT clock_timestamp()")
		unlock()
		if err := <-done; err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		if i == 1 {
			continue
		}
		if end := scan[time.Time](t, watcher, "SELECT lease_until FROM tenure_lease"); end.Sub(began) < time.Minute {
			t.Errorf("call %d: the lease ends %v after the lock came free, want at least its TTL", i, end.Sub(began))
		}
	}
}

// A lock that isn't free in time makes the outcome unknown, and the server doesn't go on with what the caller has given up.
func TestLockTimeout(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	operator, watcher := raw(t, srv.URL()), raw(t, srv.URL())
	l := acquire(t, s, claim("e", "a", time.Minute))
	unlock := lock(t, operator, "e", "FOR UPDATE")
	_, err := s.Renew(deadline(t, 200*time.Millisecond), l)
	class(t, "renewal behind a lock", err, backend.Unknown)
	class(t, "release behind a lock", s.Release(deadline(t, 200*time.Millisecond), l, backend.Handover{}), backend.Unknown)
	waiting(t, watcher, 0)
	unlock()
	if r := get(t, s, "e"); !r.Held() || r.Renewals != 0 {
		t.Errorf("calls that were given up were applied: %+v", r)
	}
	renew(t, s, l)
}

// S13: in a batch, one row that others have locked comes out as unknown, lost ones as not held, and the rest is renewed.
func TestBatch(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	var leases []backend.Lease
	for i := range 700 { // more than one statement takes
		leases = append(leases, acquire(t, s, claim(fmt.Sprintf(`e%d "\,{}'`+"\x00", i), `h"\,{}`, time.Minute)))
	}
	short := acquire(t, s, claim("short", "a", 100*time.Millisecond))
	release(t, s, leases[3])
	foreign := leases[4]
	foreign.Attempt = draw()
	eventually(t, "the short lease is over", func() bool { return !get(t, s, "short").Held() })
	unlock := lock(t, raw(t, srv.URL()), leases[5].Election, "FOR SHARE")
	batch := append([]backend.Lease{short, foreign}, leases...)
	batch = append(batch[:6], batch[7:]...) // the foreign lease's own election may be there once only
	batch = append(batch, backend.Lease{Election: "never", Holder: "a", Token: 1, Attempt: draw(), TTL: time.Minute})
	for i, r := range backend.RenewAll(deadline(t, ample), s, batch) {
		want := backend.OK
		switch batch[i].Election {
		case "short", "never", leases[3].Election, foreign.Election:
			want = backend.NotHeld
		case leases[5].Election:
			want = backend.Unknown
		}
		if got := backend.ClassOf(r.Err); got != want {
			t.Errorf("%q: %v (%v), want %v", batch[i].Election, r.Err, got, want)
		}
		if want == backend.OK && (r.Lease.Token != batch[i].Token || r.Lease.Election != batch[i].Election) {
			t.Errorf("lease %d came back as %+v", i, r.Lease)
		}
	}
	unlock()
	for _, i := range []int{0, 4, 5, 699} {
		want := int64(1)
		if i == 4 || i == 5 {
			want = 0
		}
		if r := get(t, s, leases[i].Election); r.Renewals != want {
			t.Errorf("lease %d was renewed %d times, want %d", i, r.Renewals, want)
		}
	}
}

// The server ends a call in time by itself, also when the driver's request to cancel it doesn't arrive.
func TestServerGivesUpInTime(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	p, u := through(t, srv)
	s := client(t, u)
	operator, watcher := raw(t, srv.URL()), raw(t, srv.URL())
	l := acquire(t, s, claim("e", "a", time.Minute))
	unlock := lock(t, operator, "e", "FOR UPDATE")
	ctx := deadline(t, 2*time.Second)
	done := make(chan error, 1)
	go func() { _, err := s.Renew(ctx, l); done <- err }()
	waiting(t, watcher, 1)
	p.BlackHole(proxy.Requests | proxy.Replies)
	class(t, "renewal behind a lock", <-done, backend.Unknown)
	waiting(t, watcher, 0)
	unlock()
	if n := scan[int64](t, watcher, "SELECT renewals FROM tenure_lease WHERE election = 'e'"); n != 0 {
		t.Error("the server has renewed what the caller had given up")
	}
	p.Heal()
}

// A server whose client doesn't read waits, with every row of a batch locked, once the network's buffers are full. So the reply is small, however long the names are.
func TestReplyToABatchIsSmall(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	get(t, s, "e")
	var leases []backend.Lease
	for i := range batchSize {
		leases = append(leases, backend.Lease{Election: fmt.Sprintf("%0*d", backend.MaxName, i), Holder: "a", Token: 1, Attempt: draw(), TTL: time.Minute})
	}
	in := inner(t, s)
	reply := must[[]rows](t)(in.write(deadline(t, ample), statement{in.prepared.Load().renewAll, in.batch(leases)}))
	size := 0
	for _, r := range reply[0] {
		size += len(strings.Join(r, ""))
	}
	if len(reply[0]) != batchSize || size > 16<<10 {
		t.Errorf("the reply to a batch of %d has %d rows and %d bytes", batchSize, len(reply[0]), size)
	}
}

// DX18: a grant that waited for the row judges it as it is by then, and not as the look before it has seen it: nothing is granted, and the next look says why.
func TestGrantJudgesTheLockedRow(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "timeout", "20s")
	operator, watcher := raw(t, srv.URL()), raw(t, srv.URL())
	for what, c := range map[string]struct {
		change string
		want   backend.Class
	}{
		"held":              {"holder = 'b', lease_until = clock_timestamp() + interval '1 hour'", backend.Held},
		"held, observed":    {"holder = 'b', mode = 'observed'", backend.Held},
		"reserved":          {"reserved_to = 'b', reserved_until = clock_timestamp() + interval '1 hour'", backend.Held},
		"of another epoch":  {"server_epoch = 'earlier'", backend.Held},
		"moved":             {"moved_to = 'elsewhere'", backend.Moved},
		"of a later format": {"version = 2", backend.Invalid},
		"another term's":    {"counter = counter + 1, token = counter + 1", backend.Outdated},
		"this attempt's":    {"attempt = $2", backend.NotHeld},
	} {
		release(t, s, acquire(t, s, claim(what, "a", time.Minute)))
		next := claim(what, "c", time.Minute)
		next.Seen = backend.SeenAt(get(t, s, what).Counter)
		lock(t, operator, what, "FOR UPDATE")
		done := make(chan error, 1)
		ctx := deadline(t, ample)
		go func() { _, err := s.Acquire(ctx, next); done <- err }()
		waiting(t, watcher, 1)
		exec(t, operator, "UPDATE tenure_lease SET "+c.change+" WHERE election = $1 AND $2::text <> ''", encode(what), next.Attempt.String())
		exec(t, operator, "COMMIT")
		class(t, "a grant of a row that is "+what, <-done, c.want)
	}
}
