package consul

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// ample is a ceiling for what takes milliseconds on an idle machine.
const ample = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t testing.TB, opts ...testenv.Options) *testenv.Server {
	t.Helper()
	return testenv.Consul(t, opts...)
}

// client opens a store by URL with more parameters, as users do.
func client(t testing.TB, rawURL, params string) backend.LeaseStore {
	t.Helper()
	if params != "" {
		rawURL += "&" + params
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

// transport is one for a test's own client.
func transport(t testing.TB) *http.Transport {
	h := new(http.Transport)
	t.Cleanup(h.CloseIdleConnections)
	return h
}

// raw is a client of the test's own, to look behind the store and to do what operators do.
func raw(t testing.TB, srv *testenv.Server) *api.Client {
	t.Helper()
	return rawVia(t, srv, transport(t))
}

func rawVia(t testing.TB, srv *testenv.Server, via http.RoundTripper) *api.Client {
	t.Helper()
	c, err := api.NewClient(&api.Config{Address: srv.Addr(), Scheme: "http", Token: testenv.Password(), Transport: transport(t), HttpClient: &http.Client{Transport: via}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// over is a store on a client of the test's own, under a prefix.
func over(t testing.TB, c *api.Client, prefix string) backend.LeaseStore {
	t.Helper()
	s, err := New(c, Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	w := backend.Wrap(s)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
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
		t.Fatal("no Consul store inside")
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

// brief is a claim for a lease whose end a test waits for.
func brief(election, candidate string) backend.Claim {
	c := claim(election, candidate)
	c.TTL = 2 * time.Second
	return c
}

func acquire(t testing.TB, s backend.LeaseStore, c backend.Claim) backend.Lease {
	t.Helper()
	l, err := s.Acquire(deadline(t, ample), c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func renew(t testing.TB, s backend.LeaseStore, l backend.Lease) backend.Lease {
	t.Helper()
	l, err := s.Renew(deadline(t, ample), l)
	if err != nil {
		t.Fatal(err)
	}
	return l
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

// takeOver acquires as soon as the present holder was silent for long enough.
func takeOver(t testing.TB, s backend.LeaseStore, c backend.Claim) backend.Lease {
	t.Helper()
	var l backend.Lease
	eventually(t, "take-over by "+c.Candidate.ID, func() bool {
		var err error
		l, err = s.Acquire(deadline(t, ample), c)
		if err != nil {
			class(t, "acquire before the lease's end", err, backend.Held)
		}
		return err == nil
	})
	return l
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

// woken waits for a wake-up.
func woken(t testing.TB, by string, wake <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-wake:
		if !open {
			t.Fatalf("the watch ended before it was woken by %s", by)
		}
	case <-time.After(ample):
		t.Fatalf("no wake-up by %s within %v", by, ample)
	}
}

func watching(t testing.TB, s backend.LeaseStore, election string) <-chan struct{} {
	t.Helper()
	wake, err := s.Watch(t.Context(), election)
	if err != nil {
		t.Fatal(err)
	}
	return wake
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
