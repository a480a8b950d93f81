package postgres

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/storetest"
)

// ample is a ceiling for what takes milliseconds on an idle machine.
const ample = 30 * time.Second

var (
	kit = storetest.Kit{Ample: ample}

	acquire    = kit.Acquire
	renew      = kit.Renew
	release    = kit.Release
	get        = kit.Get
	eventually = kit.Eventually
	enlist     = kit.Enlist
	listed     = kit.Listed
	deadline   = storetest.Deadline
	draw       = storetest.Draw
	class      = storetest.Class
	through    = storetest.Through
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// with is a URL with more parameters. It may name several hosts, which net/url doesn't read.
func with(t testing.TB, rawURL string, params ...string) string {
	t.Helper()
	before, query, _ := strings.Cut(rawURL, "?")
	q := must[url.Values](t)(url.ParseQuery(query))
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	return before + "?" + q.Encode()
}

// client opens a store by URL, as users do.
func client(t testing.TB, rawURL string, params ...string) backend.LeaseStore {
	t.Helper()
	return storetest.Open(t, with(t, rawURL, params...))
}

// raw is a connection of the test's own, to look behind the store and to do what operators do.
func raw(t testing.TB, rawURL string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(deadline(t, ample), rawURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

func exec(t testing.TB, c *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := c.Exec(deadline(t, ample), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// scan reads one value.
func scan[T any](t testing.TB, c *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := c.QueryRow(deadline(t, ample), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// inner is the store inside of its wrapper.
func inner(t testing.TB, s backend.LeaseStore) *Store {
	t.Helper()
	return storetest.Inner[*Store](t, s)
}

// claim is one for the election under a new attempt.
func claim(election, candidate string, ttl time.Duration) backend.Claim {
	c := storetest.Claim(election, candidate)
	c.TTL = ttl
	return c
}

func must[T any](t testing.TB) func(v T, err error) T {
	t.Helper()
	return storetest.Must[T](t)
}
