package consul

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

const (
	// sessionTTL is within what servers accept by default, from 10 s. It decides nothing: leases end by silence, whatever becomes of the session.
	sessionTTL = 30 * time.Second
	// sessionPause is how often a session with leases is renewed.
	sessionPause = sessionTTL / 3
)

// session is a Consul session of a store, shared by all its leases, or by all its entries of rosters. It begins with the first, and ends when there is none any more.
type session struct {
	client  *api.Client
	timeout time.Duration
	kind    api.SessionEntry
	pause   time.Duration               // between renewals
	tend    func(context.Context) error // what goes before each renewal, and without which there is none; nil: nothing
	turn    chan struct{}               // room for one: who creates the session
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	id     string             // empty: none
	stop   context.CancelFunc // ends the renewals of id
	terms  map[any]time.Time  // until when what needs it: an attempt, or an entry's key
}

func newSession(client *api.Client, timeout time.Duration, kind api.SessionEntry) *session {
	kind.LockDelay = time.Millisecond // the least that the client can send
	return &session{client: client, timeout: timeout, kind: kind, pause: sessionPause, turn: make(chan struct{}, 1), terms: map[any]time.Time{}}
}

// use returns the session's id; there is one afterwards.
func (n *session) use(ctx context.Context) (string, error) {
	if id, err := n.current(); id != "" || err != nil {
		return id, err
	}
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	select {
	case n.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-n.turn }()
	if id, err := n.current(); id != "" || err != nil {
		return id, err
	}
	kind := n.kind
	id, _, err := n.client.Session().CreateNoChecks(&kind, new(api.WriteOptions).WithContext(ctx))
	if err != nil {
		return "", explain(err)
	}
	return id, n.keep(id) //nolint:contextcheck // the session outlives the call
}

func (n *session) current() (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return "", backend.ErrClosed
	}
	return n.id, nil
}

// keep renews a new session until it is lost, not needed any more, or the store is closed.
func (n *session) keep(id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return backend.ErrClosed // it lapses
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.id, n.stop = id, cancel
	n.running.Go(func() {
		defer cancel()
		n.renew(ctx, id)
	})
	return nil
}

func (n *session) renew(ctx context.Context, id string) {
	tick := time.NewTicker(n.pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n.retire(id) {
			n.finish(context.WithoutCancel(ctx), id)
			return
		}
		call, cancel := context.WithTimeout(ctx, n.timeout)
		lost := n.beat(call, id)
		cancel()
		if lost {
			n.forget(id)
			return
		}
	}
}

// beat renews the session once.
func (n *session) beat(ctx context.Context, id string) (lost bool) {
	if n.tend != nil && n.tend(ctx) != nil {
		return false
	}
	entry, _, err := n.client.Session().Renew(id, new(api.WriteOptions).WithContext(ctx))
	return err == nil && entry == nil
}

// finish is what becomes of a session that nothing needs: one which takes its keys along ends at once, another lapses.
func (n *session) finish(ctx context.Context, id string) {
	if n.kind.Behavior == api.SessionBehaviorDelete {
		n.destroy(ctx, id)
	}
}

func (n *session) destroy(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	_, _ = n.client.Session().Destroy(id, new(api.WriteOptions).WithContext(ctx)) // else it lapses
}

// forget gives a session up that is gone: a renewal of it would keep nothing alive.
func (n *session) forget(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.id == id {
		n.id = ""
		n.stop()
	}
}

// needs notes that a lease or an entry lives for another ttl; over that it doesn't any more.
func (n *session) needs(a any, ttl time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.terms[a] = time.Now().Add(ttl)
}

func (n *session) over(a any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.terms, a)
}

// retire gives a session up that nothing needs: what comes next makes another.
func (n *session) retire(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.id != id || n.needed() {
		return false
	}
	n.id = ""
	n.stop()
	return true
}

// needed reports whether a lease or an entry may be alive; callers hold mu.
func (n *session) needed() bool {
	now := time.Now()
	for a, until := range n.terms {
		if now.After(until) {
			delete(n.terms, a)
		}
	}
	return len(n.terms) > 0
}

// close ends the renewals, and the session if nothing needs it.
func (n *session) close() {
	n.mu.Lock()
	id, needed := n.id, n.needed()
	n.closed, n.id = true, ""
	if id != "" {
		n.stop()
	}
	n.mu.Unlock()
	n.running.Wait()
	if id != "" && !needed {
		n.destroy(context.Background(), id)
	}
}

// refused takes note of a transaction that the server has refused because of the session, or because another tool's had the key: its lock-delay passes only with time, so that a
// second look wouldn't settle it.
func (n *session) refused(err error, id string) error {
	refused, ok := errors.AsType[*refusal](err)
	switch {
	case !ok:
	case refused.mentions("invalid session"):
		n.forget(id)
	case refused.mentions("lock delay"):
		return errors.New(refused.Error())
	}
	return err
}
