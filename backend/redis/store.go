package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// Options says how a store uses a client. The zero value is ready for use.
type Options struct {
	// Prefix parts the elections of those who share a server: two stores see the same election only under the same prefix. Empty: "tenure".
	Prefix string
	// DB is the number of the client's database, for clients that don't tell. It must be the same for all candidates. It is not used when the client is a
	// *redis.Client or a *redis.ClusterClient.
	DB int
	// ClockStep is by how much the server's clock may step forward within a TTL, see [backend.Limits]. Zero: the clock is trusted.
	ClockStep time.Duration
	// Timeout bounds the wait for the server where the caller's context doesn't: for the confirmation of a watch, and for the answer of a connection that was
	// asked whether it is alive. Zero: 2 s.
	Timeout time.Duration
	// Ping is the silence after which a connection with watches is asked whether it is alive. Zero: 20 s.
	Ping time.Duration
}

const (
	defaultPrefix  = "tenure"
	defaultTimeout = 2 * time.Second
	defaultPing    = 20 * time.Second
)

// Store keeps leases in a Redis server. It is safe for concurrent use.
type Store struct {
	client goredis.UniversalClient
	own    *dialer // of a client that Open made, else nil
	names  names
	limits backend.Limits
	watch  *hub
	check  preflight

	mark   string // starts the nonce of each call
	calls  atomic.Uint64
	closed atomic.Bool
	end    sync.Once
}

var (
	_ backend.LeaseStore  = (*Store)(nil)
	_ backend.TokenRaiser = (*Store)(nil)
	_ backend.Warner      = (*Store)(nil)
)

// New returns a store that uses client, which stays the caller's: Close doesn't close it. New does no I/O. Settings of the client that endanger leases show in
// Warnings.
func New(client goredis.UniversalClient, o Options) (*Store, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if err := backend.CheckName("prefix", o.Prefix); err != nil {
		errs = append(errs, err)
	}
	if o.DB < 0 || o.ClockStep < 0 || o.Timeout < 0 || o.Ping < 0 {
		bad("%w: Options hold a negative number; leave what has no value at zero", backend.ErrInvalid)
	}
	switch c := client.(type) {
	case nil:
		bad("%w: the client is nil", backend.ErrInvalid)
	case *goredis.Ring:
		bad("%w: a Ring moves keys to another server when one is away, which makes two leaders; use a Client, a FailoverClient or a ClusterClient", backend.ErrInvalid)
	case *goredis.Client:
		o.DB = c.Options().DB
	case *goredis.ClusterClient:
		o.DB = 0
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return newStore(client, o), nil
}

func newStore(client goredis.UniversalClient, o Options) *Store {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Ping == 0 {
		o.Ping = defaultPing
	}
	s := &Store{client: client, names: names{prefix: o.Prefix, db: o.DB}, limits: limits(o.ClockStep), mark: rand.Text()}
	s.check.init(client)
	s.watch = newHub(client, o.Timeout, o.Ping)
	return s
}

// Limits tells what this store keeps.
func (s *Store) Limits() backend.Limits { return s.limits }

func limits(clockStep time.Duration) backend.Limits {
	return backend.Limits{
		Store: "redis",
		// Redis runs one command at a time: a single slow one of somebody else, tens of milliseconds long, would end a lease much shorter than this.
		MinTTL:      100 * time.Millisecond,
		MaxTTL:      365 * 24 * time.Hour,
		Granularity: time.Millisecond,
		ClockStep:   clockStep,
		WakeUp:      backend.Pushed,
		Durability:  backend.Volatile,
		Tokens:      backend.CounterClock,
		Assumptions: []string{
			fmt.Sprintf("The wall clock of the Redis server doesn't step forward by more than %v within a TTL.", clockStep),
			"No acknowledged write is lost: one server with appendonly yes and appendfsync always. A server without persistence that restarts, or a replica promoted in " +
				"place of its master, may have lost a live lease; then two lead until the first one's next renewal, and only fencing protects.",
			"After such a loss tokens grow on if the server's clock is not behind the last token, which is a time in microseconds, or if the claim's floor is the last token.",
			"The record is not evicted: no allkeys-* policy with maxmemory set. Redis TTLs are not used, so volatile-* policies are harmless.",
		},
	}
}

// usable tells why a call can't start.
func (s *Store) usable(ctx context.Context) error {
	if s.closed.Load() {
		return backend.ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// nonce marks a call, so that its reply can be told from all others.
func (s *Store) nonce() string { return s.mark + "." + strconv.FormatUint(s.calls.Add(1), 10) }

// resync drops all connections after one was found out of step. It can't in a client of the caller's, whose pool drops such a connection when it finds the
// surplus reply.
func (s *Store) resync() {
	if s.own != nil {
		s.own.drop()
	}
}

// Close implements backend.LeaseStore. A client that was given to New stays open.
func (s *Store) Close() error {
	s.end.Do(func() {
		s.closed.Store(true)
		s.watch.close()
		s.check.stop()
		if s.own != nil {
			_ = s.client.Close() // what it could not end, the dialer does
			s.own.close()
		}
		s.watch.wait()
		s.check.wait()
	})
	return nil
}
