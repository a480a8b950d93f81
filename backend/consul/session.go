package consul

import (
	"context"
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

// session is the one Consul session of a store, shared by all its leases. It begins with the first grant, and lapses when there is no lease any more.
type session struct {
	client  *api.Client
	timeout time.Duration
	turn    chan struct{} // room for one: who creates the session
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	id     string             // empty: none
	stop   context.CancelFunc // ends the renewals of id
	terms  map[backend.Attempt]time.Time
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
	id, _, err := n.client.Session().CreateNoChecks(&api.SessionEntry{
		Name: "tenure", TTL: sessionTTL.String(), Behavior: api.SessionBehaviorRelease,
		LockDelay: time.Millisecond, // the least that the client can send
	}, new(api.WriteOptions).WithContext(ctx))
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
	tick := time.NewTicker(sessionPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !n.needed() {
			n.forget(id) // it lapses; the next grant makes another
			return
		}
		call, cancel := context.WithTimeout(ctx, n.timeout)
		entry, _, err := n.client.Session().Renew(id, new(api.WriteOptions).WithContext(call))
		cancel()
		if err == nil && entry == nil {
			n.forget(id)
			return
		}
	}
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

// needs notes that a lease lives for another ttl; over that it doesn't any more.
func (n *session) needs(a backend.Attempt, ttl time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.terms[a] = time.Now().Add(ttl)
}

func (n *session) over(a backend.Attempt) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.terms, a)
}

// needed reports whether a lease may be alive.
func (n *session) needed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	for a, until := range n.terms {
		if now.After(until) {
			delete(n.terms, a)
		}
	}
	return len(n.terms) > 0
}

// close ends the renewals, and the session if no lease needs it.
func (n *session) close() {
	needed := n.needed()
	n.mu.Lock()
	id := n.id
	n.closed, n.id = true, ""
	if id != "" {
		n.stop()
	}
	n.mu.Unlock()
	n.running.Wait()
	if id == "" || needed {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.timeout)
	defer cancel()
	_, _ = n.client.Session().Destroy(id, new(api.WriteOptions).WithContext(ctx)) // else it lapses
}
