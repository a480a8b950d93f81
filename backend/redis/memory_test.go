package redis

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// flood fills a server's cache far beyond its memory, and renews the lease meanwhile. It returns the number of keys that were evicted, and the first error of a renewal.
func flood(t *testing.T, s backend.LeaseStore, server *goredis.Client, l backend.Lease) (evicted int64, lost error) {
	t.Helper()
	ctx := deadline(t, ample)
	value := strings.Repeat("x", 1000)
	for round := range 60 {
		p := server.Pipeline()
		for i := range 100 {
			p.Set(ctx, fmt.Sprint("cache:", round, ":", i), value, ample)
		}
		_, _ = p.Exec(ctx) // some are refused
		if _, err := s.Renew(ctx, l); err != nil && lost == nil {
			lost = err
		}
	}
	info := parseInfo(must[string](t)(server.Info(ctx, "stats").Result()))
	return must[int64](t)(strconv.ParseInt(info["evicted_keys"], 10, 64)), lost
}

// small is a server with room for some hundred cache entries.
func small(t *testing.T, policy string) (*testenv.Server, *goredis.Client) {
	t.Helper()
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"maxmemory 3mb", "maxmemory-policy " + policy, "maxmemory-samples 10"}})
	return srv, raw(t, srv.URL())
}

// R51: no policy that evicts volatile keys ever takes a lease or its token, however full the server is.
func TestEvictionOfVolatileKeysTakesNoLease(t *testing.T) {
	for _, policy := range []string{"volatile-lru", "volatile-lfu", "volatile-ttl", "volatile-random"} {
		t.Run(policy, func(t *testing.T) {
			srv, server := small(t, policy)
			s := client(t, srv.URL(), "")
			l := acquire(t, s, claim("e", "a"))
			free := acquire(t, s, claim("free", "a"))
			release(t, s, free)
			evicted, lost := flood(t, s, server, l)
			if evicted == 0 {
				t.Fatal("nothing was evicted")
			}
			if lost != nil {
				t.Errorf("renew: %v", lost)
			}
			if r := get(t, s, "free"); r.Counter != free.Token {
				t.Errorf("the token of a free election is gone: %+v", r)
			}
		})
	}
}

// R51: policies that evict any key may take a lease. It is told, strict refuses, and a lease that is gone is lost, under a greater token next time.
func TestEvictionOfAllKeysIsToldAndLosesNoTokens(t *testing.T) {
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu", "allkeys-random"} {
		t.Run(policy, func(t *testing.T) {
			srv, server := small(t, policy)
			s := client(t, srv.URL(), "")
			l := acquire(t, s, claim("e", "a"))
			evicted, lost := flood(t, s, server, l)
			if evicted == 0 {
				t.Fatal("nothing was evicted")
			}
			t.Logf("%d keys evicted; the lease's first trouble: %v", evicted, lost)
			server.Del(deadline(t, ample), inner(t, s).names.key("e")) // as the policy may
			_, err := s.Renew(deadline(t, ample), l)
			class(t, "renew of an evicted lease", err, backend.NotHeld)
			if next := acquire(t, s, claim("e", "b")); next.Token <= l.Token {
				t.Errorf("token %d after %d", next.Token, l.Token)
			}
			if got := warnings(t, s); !strings.Contains(got, policy) {
				t.Errorf("no warning: %s", got)
			}
			_, err = backend.Open(deadline(t, ample), srv.URL()+"?strict=1")
			class(t, "strict open", err, backend.Invalid)
		})
	}
}
