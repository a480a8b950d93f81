package etcd

import (
	"context"
	"crypto/rand"
	"net/url"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// ample is a ceiling for what takes milliseconds on an idle machine.
const ample = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client opens a store by URL with more parameters, as users do.
func client(t testing.TB, rawURL, params string) backend.LeaseStore {
	t.Helper()
	if params != "" {
		rawURL += "?" + params
	}
	s, err := backend.Open(t.Context(), rawURL)
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

// raw is a client of the test's own, to look behind the store and to do what operators do.
func raw(t testing.TB, servers ...*testenv.Server) *clientv3.Client {
	t.Helper()
	config := clientv3.Config{Logger: zap.NewNop()}
	for _, srv := range servers {
		config.Endpoints = append(config.Endpoints, "http://"+srv.Addr())
	}
	c, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// through is the server's URL by way of a proxy.
func through(t testing.TB, srv *testenv.Server) (*proxy.Proxy, string) {
	t.Helper()
	p, err := proxy.Listen(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	u, err := url.Parse(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Host = p.Addr()
	return p, u.String()
}

// inner is the store inside of its wrapper.
func inner(t testing.TB, s backend.LeaseStore) *Store {
	t.Helper()
	r, ok := backend.As[*Store](s)
	if !ok {
		t.Fatal("no etcd store inside")
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
func claim(election, candidate string) backend.Claim {
	return backend.Claim{Election: election, Candidate: backend.Candidate{ID: candidate}, TTL: time.Minute, Attempt: draw()}
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

// warm opens the connection and waits for the store's look at its server, so that the next request on the wire is the test's own.
func warm(t testing.TB, s backend.LeaseStore) {
	t.Helper()
	get(t, s, "warm")
	eventually(t, "the store has looked at its server", func() bool {
		in := inner(t, s)
		in.check.mu.Lock()
		defer in.check.mu.Unlock()
		return in.check.looked
	})
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
