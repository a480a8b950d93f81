package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/netdial"
	"github.com/tenure-go/tenure/internal/silence"
)

// Options says how a store uses a pool. The zero value is ready for use.
type Options struct {
	// Prefix parts the elections of those who share a database: two stores see the same election only under the same prefix. Empty: "tenure".
	Prefix string
	// Schema is where the tables are. Empty: "public".
	Schema string
	// Expiry says how the leases that this store grants end: backend.Native (or empty) by the server's clock, backend.Observed when a challenger has seen no
	// renewal for the holder's TTL. Challengers obey what the record says, whatever they are set to.
	Expiry backend.Mode
	// ClockStep is by how much the server's clock may step forward within a TTL, see [backend.Limits]. Zero: the clock is trusted.
	ClockStep time.Duration
	// Timeout bounds each call whose context ends later. Zero: 5 s.
	Timeout time.Duration
	// NoListen keeps the store from LISTEN, as behind a pooler in transaction mode: followers then wait for the lease's end.
	NoListen bool
}

const (
	defaultPrefix  = "tenure"
	defaultSchema  = "public"
	defaultTimeout = 5 * time.Second
)

// Store keeps leases in a Postgres database. It is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	own     *netdial.Dialer // of a pool that Open made, else nil
	options Options
	fence   string // the statement of Fence
	limits  backend.Limits
	hub     *hub
	seen    silence.Watch[string]
	check   preflight

	preparing chan struct{} // room for one: who holds it prepares
	prepared  atomic.Pointer[statements]
	rostered  atomic.Bool   // the roster's table is there
	calm      time.Duration // see Forget

	life   context.Context //nolint:containedctx // ends with the store
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // Add only under mu and before closed
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

// New returns a store that uses pool, which stays the caller's: Close doesn't close it. Watches have one connection of their own, made as the pool makes its; it is closed by
// Close. New does no I/O. Settings that endanger leases show in Warnings.
func New(pool *pgxpool.Pool, o Options) (*Store, error) {
	if pool == nil {
		return nil, fmt.Errorf("%w: the pool is nil", backend.ErrInvalid)
	}
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := newStore(pool, o)
	s.check.fixed = poolWarnings(pool.Config())
	return s, nil
}

// complete sets what has no value to its default, and refuses the rest.
func (o Options) complete() (Options, error) {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if o.Schema == "" {
		o.Schema = defaultSchema
	}
	if o.Expiry == "" {
		o.Expiry = backend.Native
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	var errs []error
	errs = append(errs, backend.CheckName("prefix", o.Prefix), checkSchema(o.Schema))
	if o.Expiry != backend.Native && o.Expiry != backend.Observed {
		errs = append(errs, fmt.Errorf("%w: leases can't end in the way %q; give native or observed", backend.ErrInvalid, o.Expiry))
	}
	if o.ClockStep < 0 || o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("%w: Options hold a negative time; leave what has no value at zero", backend.ErrInvalid))
	}
	return o, errors.Join(errs...)
}

func newStore(pool *pgxpool.Pool, o Options) *Store {
	life, cancel := context.WithCancelCause(context.Background())
	s := &Store{pool: pool, options: o, fence: newStatements(o.Schema, startEpoch).fence, limits: limits(o), life: life, cancel: cancel, preparing: make(chan struct{}, 1), calm: calm}
	s.hub = newHub(pool, o.Timeout)
	return s
}

// Close implements backend.LeaseStore. A pool that was given to New stays open.
func (s *Store) Close() error {
	s.end.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.cancel(errClosing)
		s.hub.close()
		s.calls.Wait()
		s.hub.wait()
		s.closePool()
	})
	return nil
}

// farewell is how long the server may take to say goodbye.
const farewell = 200 * time.Millisecond

func (s *Store) closePool() {
	if s.own == nil {
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); s.pool.Close() }()
	timer := time.NewTimer(farewell)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	s.own.Close() // what is left doesn't wait for the server any more
	<-done
}
