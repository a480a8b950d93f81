package redis

import (
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true}) // its requests are counted
	server := raw(t, srv.URL())
	conformance.Run(t, conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := backend.Open(t.Context(), srv.URL())
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
		Requests: func(t conformance.T) int64 { return requests(t, server) },
		// Remove is left out: a DEL by hand wakes nobody, see the package comment.
	})
}

// requests counts what clients have sent: commands inside of scripts are counted by Redis too, but are of other kinds.
func requests(t conformance.T, server *goredis.Client) int64 {
	stats, err := server.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatalf("info: %v", err)
	}
	var sum int64
	for line := range strings.Lines(stats) {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		switch kind {
		case "evalsha", "eval", "ping", "subscribe", "unsubscribe", "script|load":
			calls, _, _ := strings.Cut(rest, ",")
			n, err := strconv.ParseInt(calls, 10, 64)
			if err != nil {
				t.Fatalf("info: %v", err)
			}
			sum += n
		}
	}
	return sum
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
