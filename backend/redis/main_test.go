package redis

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/storetest"
)

// ample is a ceiling for what takes milliseconds on an idle machine.
const ample = time.Minute

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
func raw(t testing.TB, rawURL string) *goredis.Client {
	t.Helper()
	o, err := goredis.ParseURL(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	c := goredis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// inner is the store inside of its wrapper.
func inner(t testing.TB, s backend.LeaseStore) *Store {
	t.Helper()
	return storetest.Inner[*Store](t, s)
}

// warm brings the scripts to the server and waits for the store's look at it, so that the next request on the wire is the test's own.
func warm(t testing.TB, s backend.LeaseStore) {
	t.Helper()
	l := acquire(t, s, claim("warm", "w"))
	renew(t, s, l)
	release(t, s, l)
	get(t, s, "warm")
	inner(t, s).check.running.Wait()
}

func must[T any](t testing.TB) func(v T, err error) T {
	t.Helper()
	return storetest.Must[T](t)
}
