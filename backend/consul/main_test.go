package consul

import (
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testenv"
)

// ample is a ceiling for what takes milliseconds on an idle machine.
const ample = 20 * time.Second

var (
	kit = storetest.Kit{Ample: ample}

	acquire    = kit.Acquire
	renew      = kit.Renew
	release    = kit.Release
	get        = kit.Get
	eventually = kit.Eventually
	elections  = kit.Elections
	forget     = kit.Forget
	enlist     = kit.Enlist
	onList     = kit.Candidates
	deadline   = storetest.Deadline
	draw       = storetest.Draw
	claim      = storetest.Claim
	class      = storetest.Class
	through    = storetest.Through
)

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
	return storetest.Open(t, rawURL)
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

// inner is the store inside of its wrapper.
func inner(t testing.TB, s backend.LeaseStore) *Store {
	t.Helper()
	return storetest.Inner[*Store](t, s)
}

// brief is a claim for a lease whose end a test waits for.
func brief(election, candidate string) backend.Claim {
	c := claim(election, candidate)
	c.TTL = 2 * time.Second
	return c
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
	return storetest.Must[T](t)
}
