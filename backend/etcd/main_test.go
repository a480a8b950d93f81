package etcd

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

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
	listed     = kit.Candidates
	deadline   = storetest.Deadline
	claim      = storetest.Claim
	class      = storetest.Class
	through    = storetest.Through
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client opens a store by URL with more parameters, as users do.
func client(t testing.TB, rawURL, params string) backend.LeaseStore {
	t.Helper()
	if params != "" {
		rawURL += "?" + params
	}
	return storetest.Open(t, rawURL)
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

// inner is the store inside of its wrapper.
func inner(t testing.TB, s backend.LeaseStore) *Store {
	t.Helper()
	return storetest.Inner[*Store](t, s)
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

func must[T any](t testing.TB) func(v T, err error) T {
	t.Helper()
	return storetest.Must[T](t)
}
