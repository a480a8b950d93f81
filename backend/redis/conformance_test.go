package redis

import (
	"testing"

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

func TestConformance(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t)
	conformance.Run(t, suite(srv.URL(), raw(t, srv.URL())))
}

func TestConformanceObserved(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t)
	conformance.Run(t, suite(srv.URL()+"?expiry=observed", raw(t, srv.URL())))
}

// The same with a user's client as the driver makes it: RESP3, repeats, contexts that don't reach the socket.
func TestConformanceWithDefaultClient(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t)
	client := raw(t, srv.URL())
	conformance.Run(t, conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := New(client, Options{Prefix: "default client"})
			if err != nil {
				t.Fatalf("new: %v", err)
			}
			return s
		},
	})
}
