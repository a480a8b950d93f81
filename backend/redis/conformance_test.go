package redis

import (
	"errors"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// suite is the suite for stores at a URL; server writes behind their back.
func suite(rawURL string, server goredis.UniversalClient) conformance.Suite {
	return conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := backend.Open(t.Context(), rawURL)
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		},
		Plant: func(t conformance.T, election, moved string, version int) {
			if err := server.HSet(t.Context(), names{prefix: defaultPrefix}.key(election), "moved_to", moved, "version", version).Err(); err != nil {
				t.Fatalf("plant: %v", err)
			}
		},
		// Remove is left out: a DEL by hand wakes nobody, see the package comment.
	}
}

// variant is the suite for another way to the same server: electors don't notice.
func variant(s conformance.Suite) conformance.Suite {
	s.StoreOnly = true
	return s
}

// full is the suite for a server of the test's own, which it may restart, cut off, and whose clock it may set.
func full(t *testing.T, srv *testenv.Server, params string) conformance.Suite {
	t.Helper()
	server := raw(t, srv.URL())
	s := suite(srv.URL()+params, server)
	s.Server = srv.Addr()
	s.Through = func(t conformance.T, addr string) backend.LeaseStore {
		store, err := backend.Open(t.Context(), strings.Replace(srv.URL(), srv.Addr(), addr, 1)+params)
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		return store
	}
	s.Faults.Restart = func(conformance.T) { srv.Kill(); srv.Start() }
	s.Faults.Skew = func(t conformance.T, by time.Duration) {
		keys, err := server.Keys(t.Context(), "*:lease").Result()
		for _, key := range keys {
			err = errors.Join(err, leap(t.Context(), server, key, by))
		}
		if err != nil {
			t.Fatalf("skew: %v", err)
		}
	}
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s := full(t, srv, "")
	s.Target, s.Requests = "Redis", func(t conformance.T) int64 { return srv.Requests(t) }
	conformance.Run(t, s)
}

func TestConformanceObserved(t *testing.T) {
	t.Parallel()
	conformance.Run(t, full(t, testenv.Redis(t, testenv.Options{Own: true}), "?expiry=observed"))
}

// The same with a user's client as the driver makes it: RESP3, repeats, contexts that don't reach the socket.
func TestConformanceWithDefaultClient(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t)
	client := raw(t, srv.URL())
	conformance.Run(t, variant(conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := New(client, Options{Prefix: "default client"})
			if err != nil {
				t.Fatalf("new: %v", err)
			}
			return s
		},
	}))
}
