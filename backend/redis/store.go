package redis

import (
	"cmp"
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
	"github.com/tenure-go/tenure/internal/silence"
)

// Options says how a store uses a client. The zero value is ready for use.
type Options struct {
	// Prefix parts the elections of those who share a server: two stores see the same election only under the same prefix. Empty: "tenure".
	Prefix string
	// DB is the number of the client's database, for clients that don't tell. It must be the same for all candidates. It is not used when the client is a
	// *redis.Client. A client that NewFailoverClusterClient has made doesn't tell: give the DB of its options, or its candidates and others don't see each other.
	DB int
	// Expiry says who decides that a lease of this store's candidates has ended: [backend.Native], or empty, the server by its clock, or [backend.Observed] a challenger which
	// has seen no renewal for the lease's TTL. Challengers obey what the record says, whatever their own setting.
	Expiry backend.Mode
	// Wait is how many replicas must acknowledge each grant and each renewal. Zero: none. It needs a *redis.Client or a *redis.ClusterClient.
	Wait int
	// ClockStep is by how much the server's clock may step forward within a TTL, see [backend.Limits]. Zero: the clock is trusted. Observed leases don't rest on that
	// clock, so it is refused with them.
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
	client  goredis.UniversalClient
	own     *dialer // of a client that Open made, else nil
	names   names
	limits  backend.Limits
	mode    backend.Mode  // of the leases that it acquires
	wait    int           // replicas that must acknowledge
	timeout time.Duration // see Options.Timeout
	silence silence.Watch[string]
	watch   *hub
	check   preflight

	mark   string // starts the nonce of each call
	calls  atomic.Uint64
	closed atomic.Bool
	end    sync.Once
}

var (
	_ backend.LeaseStore   = (*Store)(nil)
	_ backend.TokenRaiser  = (*Store)(nil)
	_ backend.BatchRenewer = (*Store)(nil)
	_ backend.Warner       = (*Store)(nil)
	_ backend.Notifier     = (*Store)(nil)
	_ backend.Roster       = (*Store)(nil)
	_ backend.Lister       = (*Store)(nil)
	_ backend.Forgetter    = (*Store)(nil)
)

// New returns a store that uses client, which stays the caller's: Close doesn't close it. New does no I/O. Settings of the client that endanger leases show in
// Warnings. Its errors wrap backend.ErrInvalid.
func New(client goredis.UniversalClient, o Options) (*Store, error) {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	db, err := database(client, o.DB)
	if err := errors.Join(err, o.check()); err != nil {
		return nil, err
	}
	if _, ok := nodes(client); !ok && o.Wait > 0 {
		return nil, fmt.Errorf("%w: Options.Wait needs a *redis.Client or a *redis.ClusterClient, not a %T", backend.ErrInvalid, client)
	}
	o.DB = db
	return newStore(client, o), nil
}

// check refuses what no store can have.
func (o Options) check() error {
	errs := []error{backend.CheckName("prefix", o.Prefix)}
	if o.DB < 0 || o.Wait < 0 || o.ClockStep < 0 || o.Timeout < 0 || o.Ping < 0 {
		errs = append(errs, fmt.Errorf("%w: Options hold a negative number; leave what has no value at zero", backend.ErrInvalid))
	}
	switch o.Expiry {
	case "", backend.Native:
	case backend.Observed:
		if o.ClockStep > 0 {
			errs = append(errs, fmt.Errorf("%w: ClockStep is for leases that end by the server's clock, and observed ones don't: leave it out", backend.ErrInvalid))
		}
	default:
		errs = append(errs, fmt.Errorf("%w: Options.Expiry is %q; it is %q or %q", backend.ErrInvalid, o.Expiry, backend.Native, backend.Observed))
	}
	return errors.Join(errs...)
}

// database is the client's database, as far as it tells; else given.
func database(client goredis.UniversalClient, given int) (int, error) {
	switch c := client.(type) {
	case nil:
		return 0, fmt.Errorf("%w: the client is nil", backend.ErrInvalid)
	case *goredis.Ring:
		return 0, fmt.Errorf("%w: a Ring moves keys to another server when one is away, which makes two leaders; use a Client, a FailoverClient or a ClusterClient", backend.ErrInvalid)
	case *goredis.Client:
		return c.Options().DB, nil
	}
	return given, nil // also of a ClusterClient: one that NewFailoverClusterClient has made may have any, and hides which
}

func newStore(client goredis.UniversalClient, o Options) *Store {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.Ping = cmp.Or(o.Ping, defaultPing)
	o.Expiry = cmp.Or(o.Expiry, backend.Native)
	s := &Store{
		client: client, names: names{prefix: o.Prefix, db: o.DB}, limits: limits(o), mark: rand.Text(),
		mode: o.Expiry, wait: o.Wait, timeout: o.Timeout, watch: newHub(client, o.Timeout, o.Ping),
	}
	if _, cluster := client.(*goredis.ClusterClient); cluster {
		s.limits.Batch = 1 // a script works on one slot, and each election has its own
	}
	s.check.init(client, o.Wait)
	return s
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
		s.own.Drop()
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
			s.own.Close()
		}
		s.watch.wait()
		s.check.wait()
	})
	return nil
}
