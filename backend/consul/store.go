package consul

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/silence"
	"github.com/tenure-go/tenure/internal/wakeup"
)

// Options says how a store uses a client. The zero value is ready for use.
type Options struct {
	// Prefix parts the elections of those who share the servers: two stores see the same election only under the same prefix. Empty: "tenure".
	Prefix string
	// Timeout bounds the wait for the servers where the caller's context doesn't, for the first answer to a watch, and for what the store does on its own. Zero: 2 s.
	Timeout time.Duration
}

const (
	defaultPrefix  = "tenure"
	defaultTimeout = 2 * time.Second
)

// Store keeps leases in the key-value store of Consul. It is safe for concurrent use.
type Store struct {
	client  *api.Client
	wire    *wire // of a client that Open made, else nil
	names   names
	timeout time.Duration

	beats    silence.Watch[sign]   // of holders
	reserved silence.Watch[uint64] // since when reservations have been seen
	session  *session
	roster   *roster
	watch    *hub
	check    preflight

	life context.Context //nolint:containedctx // ends with the store, and ends its calls
	end  context.CancelFunc
	once sync.Once
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

// New returns a store that uses client, which stays the caller's: Close doesn't close it. New does no I/O. The client's HTTP client must not end requests on its own: a
// watch's last for half a minute.
func New(client *api.Client, o Options) (*Store, error) {
	var errs []error
	if client == nil {
		errs = append(errs, fmt.Errorf("%w: the client is nil", backend.ErrInvalid))
	}
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("%w: Options.Timeout is %v; leave it at zero for %v", backend.ErrInvalid, o.Timeout, defaultTimeout))
	}
	if err := errors.Join(append(errs, checkPrefix(o.Prefix))...); err != nil {
		return nil, err
	}
	return newStore(client, o), nil
}

// checkPrefix refuses, apart from what is no name, what would be lost from the path of a request.
func checkPrefix(prefix string) error {
	if prefix == "." || prefix == ".." {
		return fmt.Errorf("%w: the prefix %q means something else in a path; choose another", backend.ErrInvalid, prefix)
	}
	return backend.CheckName("prefix", prefix)
}

func newStore(client *api.Client, o Options) *Store {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	life, end := context.WithCancel(context.Background())
	s := &Store{client: client, names: names{o.Prefix}, timeout: o.Timeout, life: life, end: end}
	s.session = newSession(client, o.Timeout, api.SessionEntry{Name: "tenure", TTL: sessionTTL.String(), Behavior: api.SessionBehaviorRelease})
	s.roster = newRoster(s)
	s.watch = &hub{store: s, watchers: map[string][]*wakeup.Watch{}}
	return s
}

// Limits tells what this store keeps.
func (s *Store) Limits() backend.Limits {
	return backend.Limits{
		Store: "consul",
		// A write waits for the disks of a majority of servers, and a renewal must fit three times into a TTL.
		MinTTL:      time.Second,
		MaxTTL:      24 * time.Hour,
		Granularity: time.Millisecond,
		Expiry:      backend.Beat,
		Batch:       batch,
		// Of one that watches: 3 returns of the blocking query of the beats with one leader under the prefix, up to 6 with many (it rests for a sixth of a TTL), a look or little more,
		// and one return of the other query in 30 s. That makes 4 with one leader and 7 with many, and is below 8 for TTLs up to 20 s; grants and releases of others come on top.
		FollowerRequests: 8,
		WakeUp:           backend.Pushed,
		Durability:       backend.Quorum,
		Tokens:           backend.Counter,
		Assumptions: []string{
			"The clock of a challenger that waits runs at the rate of the holder's; no wall clock and no timer of the servers decides anything.",
			"A lease of a dead holder ends when a challenger that has watched it, or looked at it, has seen no beat for the holder's TTL. A blocking query that hangs makes that later, never earlier.",
			"The servers lose no acknowledged write: a snapshot that is restored brings back an old counter, and then tokens grow only if the claim's floor is the last token.",
		},
	}
}

// begin ties a call to the store's life, and bounds one whose context doesn't.
func (s *Store) begin(ctx context.Context) (context.Context, func(), error) {
	if s.life.Err() != nil {
		return nil, nil, backend.ErrClosed
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	release := func() {}
	if _, bounded := ctx.Deadline(); !bounded {
		ctx, release = context.WithTimeout(ctx, s.timeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unbind := context.AfterFunc(s.life, func() { cancel(backend.ErrClosed) })
	return ctx, func() { unbind(); cancel(nil); release() }, nil
}

// Close implements backend.LeaseStore. A client that was given to New stays usable. The session is destroyed unless a lease needs it: a key without a session is free to the eyes
// of other tools, and a native fence fails.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.watch.close()
		s.end()
		s.session.close()
		s.roster.session.close()
		s.watch.wait()
		s.check.close()
		if s.wire != nil {
			s.wire.close()
		}
	})
	return nil
}
