package storetest

import (
	"context"
	"crypto/rand"
	"net/url"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// Open opens a store by URL, as users do, and closes it after the test.
func Open(t testing.TB, rawURL string) backend.LeaseStore {
	t.Helper()
	s := Must[backend.LeaseStore](t)(backend.Open(t.Context(), rawURL))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Inner is the store of a package inside of its wrapper.
func Inner[S any](t testing.TB, s backend.LeaseStore) S {
	t.Helper()
	inner, ok := backend.As[S](s)
	if !ok {
		t.Fatalf("there is no %T inside of the store", inner)
	}
	return inner
}

// Through is the server's URL by way of a proxy.
func Through(t testing.TB, srv *testenv.Server) (*proxy.Proxy, string) {
	t.Helper()
	p := Must[*proxy.Proxy](t)(proxy.Listen(srv.Addr()))
	t.Cleanup(func() { _ = p.Close() })
	u := Must[*url.URL](t)(url.Parse(srv.URL()))
	u.Host = p.Addr()
	return p, u.String()
}

// Claim is one for the election under a new attempt, for a minute.
func Claim(election, candidate string) backend.Claim {
	return backend.Claim{Election: election, Candidate: backend.Candidate{ID: candidate}, TTL: time.Minute, Attempt: Draw()}
}

// Draw returns a new attempt.
func Draw() backend.Attempt {
	var a backend.Attempt
	_, _ = rand.Read(a[:]) // never fails
	return a
}

// Deadline is the test's context with an end of its own.
func Deadline(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// Class fails the test unless err means want.
func Class(t testing.TB, what string, err error, want backend.Class) {
	t.Helper()
	if got := backend.ClassOf(err); got != want {
		t.Errorf("%s: %v (%v), want %v", what, err, got, want)
	}
}

// Must returns a function that passes a value on and ends the test at an error.
func Must[T any](t testing.TB) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
