package postgres

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// ample is a ceiling for what takes milliseconds on an idle machine.
const ample = 30 * time.Second

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
	s, err := backend.Open(t.Context(), with(t, rawURL, params...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
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

// through is the server's URL by way of a proxy.
func through(t testing.TB, srv *testenv.Server) (*proxy.Proxy, string) {
	t.Helper()
	p, err := proxy.Listen(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	u := must[*url.URL](t)(url.Parse(srv.URL()))
	u.Host = p.Addr()
	return p, u.String()
}

// inner is the store inside of its wrapper.
func inner(t testing.TB, s backend.LeaseStore) *Store {
	t.Helper()
	r, ok := backend.As[*Store](s)
	if !ok {
		t.Fatal("no postgres store inside")
	}
	return r
}

func deadline(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func draw() backend.Attempt {
	var a backend.Attempt
	_, _ = rand.Read(a[:]) // never fails
	return a
}

// claim is one for the election under a new attempt.
func claim(election, candidate string, ttl time.Duration) backend.Claim {
	return backend.Claim{Election: election, Candidate: backend.Candidate{ID: candidate}, TTL: ttl, Attempt: draw()}
}

func acquire(t testing.TB, s backend.LeaseStore, c backend.Claim) backend.Lease {
	t.Helper()
	l, err := s.Acquire(deadline(t, ample), c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func renew(t testing.TB, s backend.LeaseStore, l backend.Lease) {
	t.Helper()
	if _, err := s.Renew(deadline(t, ample), l); err != nil {
		t.Fatal(err)
	}
}

func release(t testing.TB, s backend.LeaseStore, l backend.Lease) {
	t.Helper()
	if err := s.Release(deadline(t, ample), l, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, s backend.LeaseStore, election string) backend.Record {
	t.Helper()
	r, err := s.Get(deadline(t, ample), election)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// class fails the test unless err means want.
func class(t testing.TB, what string, err error, want backend.Class) {
	t.Helper()
	if got := backend.ClassOf(err); got != want {
		t.Errorf("%s: %v (%v), want %v", what, err, got, want)
	}
}

// eventually waits until ok is true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(ample)
	defer end.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("not within %v: %s", ample, what)
		}
	}
}

func must[T any](t testing.TB) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
