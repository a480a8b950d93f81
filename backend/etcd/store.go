package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// Options says how a store uses a client. The zero value is ready for use.
type Options struct {
	// Prefix parts the elections of those who share a cluster: two stores see the same election only under the same prefix. Empty: "tenure".
	Prefix string
	// Timeout bounds the wait for the cluster where the caller's context doesn't, and the wait for a sign of life of the watches' stream. Zero: 2 s.
	Timeout time.Duration
	// Ping is the silence after which the stream with the watches is asked whether it is alive. Zero: 10 s.
	Ping time.Duration
}

const (
	defaultPrefix  = "tenure"
	defaultTimeout = 2 * time.Second
	defaultPing    = 10 * time.Second
)

// Store keeps leases in an etcd cluster. It is safe for concurrent use.
type Store struct {
	client  *clientv3.Client
	own     bool // the client is ours to close
	login   *login
	kv      clientv3.KV
	lease   clientv3.Lease
	names   names
	timeout time.Duration
	limits  backend.Limits
	fleet   *fleet
	silence silence
	floor   floor
	roster  roster
	watch   *hub
	check   preflight

	life    context.Context //nolint:containedctx // of what goes on behind calls
	stop    context.CancelFunc
	behind  func(f func(context.Context)) // runs f behind the call, for a bounded time
	flights flights
	era     atomic.Uint64 // the highest raft term seen
	closed  atomic.Bool
	end     sync.Once
}

var (
	_ backend.LeaseStore   = (*Store)(nil)
	_ backend.BatchRenewer = (*Store)(nil)
	_ backend.TokenRaiser  = (*Store)(nil)
	_ backend.Warner       = (*Store)(nil)
	_ backend.Notifier     = (*Store)(nil)
	_ backend.Roster       = (*Store)(nil)
	_ backend.Lister       = (*Store)(nil)
	_ backend.Forgetter    = (*Store)(nil)
)

// New returns a store that uses client, which stays the caller's: Close doesn't close it. New does no I/O. Settings of the client that endanger leases show in Warnings.
//
// The client's connection is used, not its KV, Lease and Watcher: a namespace put in their place has no effect, see [Options].Prefix.
func New(client *clientv3.Client, o Options) (*Store, error) {
	var errs []error
	if client == nil {
		errs = append(errs, fmt.Errorf("%w: the client is nil", backend.ErrInvalid))
	}
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if err := backend.CheckName("prefix", o.Prefix); err != nil {
		errs = append(errs, err)
	}
	if o.Timeout < 0 || o.Ping < 0 {
		errs = append(errs, fmt.Errorf("%w: Options hold a negative time; leave what has no value at zero", backend.ErrInvalid))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	s := newStore(client, o)
	s.check.fixed = clientWarnings(client)
	return s, nil
}

func newStore(client *clientv3.Client, o Options) *Store {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Ping == 0 {
		o.Ping = defaultPing
	}
	s := &Store{
		client: client, kv: clientv3.NewKV(client), lease: clientv3.NewLease(client),
		names: newNames(o.Prefix), timeout: o.Timeout, limits: limits(), fleet: newFleet(),
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.behind = func(f func(context.Context)) {
		s.flights.Go(func() {
			ctx, cancel := context.WithTimeout(s.life, s.timeout)
			defer cancel()
			f(ctx)
		})
	}
	s.watch = newHub(s, o.Ping)
	return s
}

// Limits tells what this store keeps.
func (s *Store) Limits() backend.Limits { return s.limits }

func limits() backend.Limits {
	return backend.Limits{
		Store: "etcd",
		// etcd raises a shorter TTL silently to one and a half election time-outs, 2 s by default.
		MinTTL:         2 * time.Second,
		MaxTTL:         365 * 24 * time.Hour,
		Granularity:    time.Second,
		Expiry:         backend.Native,
		SilentRenewals: true,
		Batch:          carrierTerms,
		RenewRequests:  2, // a refresh says nothing about the keys: they are read after it
		// etcd looks for leases that have ended each 500 ms, and then needs a majority to remove their keys.
		ExpiryLag:  time.Second,
		WakeUp:     backend.Pushed,
		Durability: backend.Quorum,
		Tokens:     backend.Counter,
		Assumptions: []string{
			"Members run etcd 3.4.38, 3.5.23, 3.6.5 or later: older ones may confirm a refresh of a lease that has ended.",
			"When etcd elects another leader of its own, all its leases begin their TTL anew, so that a dead holder's lease ends up to a TTL and an election time-out later.",
			"The cluster isn't restored from an older snapshot: its counters would go back. If it is, tokens grow on from the claim's floor, or after Raise.",
			"Nobody else writes below the prefix. A leader key that was put by hand without a lease is taken over after a TTL in which it didn't change.",
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

// flights counts the requests under way, so that Close can wait for them.
type flights struct {
	mu      sync.Mutex
	running sync.WaitGroup
	ended   bool
}

// Go runs f behind the call, unless the store has been closed: f is then run at once, by a context that has ended.
func (g *flights) Go(f func()) {
	g.mu.Lock()
	ended := g.ended
	if !ended {
		g.running.Add(1)
	}
	g.mu.Unlock()
	if ended {
		f()
		return
	}
	go func() {
		defer g.running.Done()
		f()
	}()
}

func (g *flights) wait() {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	g.running.Wait()
}

// Close implements backend.LeaseStore. It ends etcd leases that carry nothing, and leaves all others alone: the functions of their terms may still run. A client
// that was given to New stays open.
func (s *Store) Close() error {
	s.end.Do(func() {
		s.closed.Store(true)
		s.watch.close()
		s.revokeSpares()
		s.stop()
		s.watch.wait()
		s.flights.wait()
		if s.own {
			_ = s.client.Close() // it says that its own context was cancelled
		}
	})
	return nil
}

// closeGrace bounds what Close does at the server for tidiness.
const closeGrace = 500 * time.Millisecond

func (s *Store) revokeSpares() {
	f := s.fleet
	f.mu.Lock()
	f.closed = true
	spares := f.spares
	f.spares = nil
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.life, min(closeGrace, s.timeout))
	defer cancel()
	var all sync.WaitGroup
	for _, c := range spares {
		all.Go(func() { _, _ = s.lease.Revoke(ctx, c.id) })
	}
	all.Wait()
}
