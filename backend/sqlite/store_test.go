package sqlite_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
	"github.com/tenure-go/tenure/conformance"
)

// long is a TTL that no test outlives, short is one that tests wait for.
const (
	long  = time.Minute
	short = 300 * time.Millisecond
)

func newAttempt() backend.Attempt {
	var a backend.Attempt
	_, _ = rand.Read(a[:]) // never fails
	return a
}

func claim(election, candidate string, ttl time.Duration) backend.Claim {
	return backend.Claim{Election: election, Candidate: backend.Candidate{ID: candidate}, TTL: ttl, Attempt: newAttempt()}
}

// newPath returns a path for a new file.
func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "leases.db") }

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	return openBusy(t, path, 0)
}

func openBusy(t testing.TB, path string, busy time.Duration) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Busy: busy})
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

func acquire(t testing.TB, s backend.LeaseStore, c backend.Claim) backend.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// want fails the test when err isn't of the class.
func want(t testing.TB, what string, err error, class backend.Class) {
	t.Helper()
	if got := backend.ClassOf(err); got != class {
		t.Fatalf("%s: %v (%v), want %v", what, err, got, class)
	}
}

// alter changes the file behind the store's back.
func alter(t conformance.T, path, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func TestClosedStoreRefusesEveryCall(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	l := acquire(t, s, claim("e", "a", long))
	watch, err := s.Watch(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range watch { // closed
	}
	_, err = s.Acquire(t.Context(), claim("e", "b", long))
	want(t, "acquire", err, backend.Closed)
	_, err = s.Renew(t.Context(), l)
	want(t, "renew", err, backend.Closed)
	want(t, "release", s.Release(t.Context(), l, backend.Handover{}), backend.Closed)
	_, err = s.Get(t.Context(), "e")
	want(t, "get", err, backend.Closed)
	_, err = s.Watch(t.Context(), "e")
	want(t, "watch", err, backend.Closed)
	want(t, "raise", s.Raise(t.Context(), "e", 5), backend.Closed)
}

func TestCloseCutsCallsShort(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openBusy(t, path, 30*time.Second)
	start(t, "lock", path, "DELETE FROM tenure_lease").expect("locked")
	failed := make(chan error, 1)
	go func() {
		_, err := s.Acquire(context.WithoutCancel(t.Context()), claim("e", "a", long))
		failed <- err
	}()
	eventually(t, "the call is under way", func() bool { return sqlite.Calls(s) > 0 })
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, "the call", <-failed, backend.Unknown)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// Two names that differ behind a NUL or in what SQL quotes are two elections.
func TestNamesAreIsolated(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	names := []string{
		"a", "a\x00", "a\x00b", "\x00", "'", "''", `"`, "a'; DROP TABLE tenure_lease; --", "%", "_", "A", "ä", "a\u0308", "\ufeffa", " a", "a ", "\n", "日本", "🦉",
	}
	for _, name := range names {
		acquire(t, s, claim(name, "holder of "+name, long))
	}
	for _, name := range names {
		r, err := s.Get(t.Context(), name)
		if err != nil || r.Holder.ID != "holder of "+name {
			t.Errorf("Get(%q): %q, %v", name, r.Holder.ID, err)
		}
	}
}

func TestRaiseLeavesALeaseAlone(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	l := acquire(t, s, claim("e", "a", long))
	for range 2 {
		if err := s.Raise(t.Context(), "e", l.Token+1000); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "an absurd raise", s.Raise(t.Context(), "e", backend.MaxToken), backend.Invalid)
	if _, err := s.Renew(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Get(t.Context(), "e"); err != nil || r.Token != l.Token || r.Counter != l.Token+1000 {
		t.Fatalf("record %+v, %v", r, err)
	}
	if err := s.Release(t.Context(), l, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
	c := claim("e", "b", long)
	c.Seen = backend.SeenAt(l.Token)
	if _, err := s.Acquire(t.Context(), c); !errors.Is(err, backend.ErrOutdated) {
		t.Fatalf("acquire at an old counter: %v", err)
	}
}
