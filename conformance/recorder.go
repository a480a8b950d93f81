package conformance

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// call is one call of one client with its reply.
type call struct {
	client        int
	op            string // acquire, renew, release, raise
	election      string
	claim         backend.Claim // of acquire
	lease         backend.Lease // what was renewed or released
	raised        int64
	granted       backend.Lease // the reply
	err           error
	sent, replied instant
}

// instant is a moment of the history. Seq gives the order of moments, also where the clock shows the same time for many of them, as in a bubble.
type instant struct {
	seq int64
	at  time.Time
}

func (i instant) before(j instant) bool { return i.seq < j.seq }

// history is what all clients of a trial did.
type history struct {
	mu      sync.Mutex
	seq     int64
	clients int
	calls   []call
}

func (h *history) now() instant {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	return instant{h.seq, time.Now()}
}

func (h *history) add(c call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	c.replied = instant{h.seq, time.Now()}
	h.calls = append(h.calls, c)
}

// trouble is the first error of a call whose outcome is unknown: a store that is overloaded answers so, and one with a bug does it each time.
func (h *history) trouble() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if backend.ClassOf(c.err) == backend.Unknown {
			return c.err
		}
	}
	return nil
}

// recorder writes down what one client asks its store and what it is told. It sits below the faults, so that it knows what really happened.
type recorder struct {
	backend.LeaseStore
	history *history
	client  int
}

func (h *history) recorder(s backend.LeaseStore) *recorder {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients++
	return &recorder{LeaseStore: s, history: h, client: h.clients}
}

func (r *recorder) Unwrap() backend.LeaseStore { return r.LeaseStore }

func (r *recorder) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	sent := r.history.now()
	l, err := r.LeaseStore.Acquire(ctx, c)
	r.history.add(call{client: r.client, op: "acquire", election: c.Election, claim: c, granted: l, err: err, sent: sent})
	return l, err
}

func (r *recorder) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	sent := r.history.now()
	renewed, err := r.LeaseStore.Renew(ctx, l)
	r.history.add(call{client: r.client, op: "renew", election: l.Election, lease: l, granted: renewed, err: err, sent: sent})
	return renewed, err
}

func (r *recorder) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	sent := r.history.now()
	err := r.LeaseStore.Release(ctx, l, h)
	r.history.add(call{client: r.client, op: "release", election: l.Election, lease: l, err: err, sent: sent})
	return err
}

// RenewAll writes each renewal of a batch down as one of its own, sent when the batch was.
func (r *recorder) RenewAll(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	ctx, cancel := limited(ctx)
	defer cancel()
	sent := r.history.now()
	renewals := backend.RenewAll(ctx, r.LeaseStore, leases)
	for i := range min(len(leases), len(renewals)) {
		r.history.add(call{client: r.client, op: "renew", election: leases[i].Election, lease: leases[i], granted: renewals[i].Lease, err: renewals[i].Err, sent: sent})
	}
	return renewals
}

// Get is not a part of the history.
func (r *recorder) Get(ctx context.Context, election string) (backend.Record, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	return r.LeaseStore.Get(ctx, election)
}

// limited gives a call a limit of its own, so that one that hangs is told from a slow machine.
func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, callLimit, fmt.Errorf("the call has not returned within %v", callLimit))
}

// Raise implements backend.TokenRaiser.
func (r *recorder) Raise(ctx context.Context, election string, token int64) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	raiser, _ := backend.As[backend.TokenRaiser](r.LeaseStore) // Wrap always has one
	sent := r.history.now()
	err := raiser.Raise(ctx, election, token)
	r.history.add(call{client: r.client, op: "raise", election: election, raised: token, err: err, sent: sent})
	return err
}

// raises reports whether the store itself can raise its counter.
func (t *trial) raises() bool { return implements[backend.TokenRaiser](t) }
