package backend

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// closeGrace bounds how long Close waits for calls that a driver doesn't end although their contexts have ended.
const closeGrace = 5 * time.Second

// Wrap returns s with what must be the same for all stores: names and TTLs are checked, TTLs rounded up, every call returns when its context ends even if the
// driver doesn't, and errors come as *OpError. A store that is wrapped already is returned as it is.
func Wrap(s LeaseStore) LeaseStore { return wrap(s, nil) }

func wrap(s LeaseStore, secrets []string) LeaseStore {
	if _, ok := As[*wrapped](s); ok {
		return s
	}
	return &wrapped{inner: s, limits: s.Limits(), secrets: secrets, closed: make(chan struct{})}
}

type wrapped struct {
	inner   LeaseStore
	limits  Limits
	secrets []string // texts that no error may show

	mu     sync.Mutex
	calls  sync.WaitGroup // driver calls under way; Add only under mu and before closed
	closed chan struct{}
}

var (
	_ LeaseStore   = (*wrapped)(nil)
	_ Unwrapper    = (*wrapped)(nil)
	_ TokenRaiser  = (*wrapped)(nil)
	_ BatchRenewer = (*wrapped)(nil)
	_ Notifier     = (*wrapped)(nil)
	_ Roster       = (*wrapped)(nil)
	_ Lister       = (*wrapped)(nil)
	_ Forgetter    = (*wrapped)(nil)
)

func (w *wrapped) Unwrap() LeaseStore { return w.inner }
func (w *wrapped) Limits() Limits     { return w.limits }

func (w *wrapped) Acquire(ctx context.Context, c Claim) (Lease, error) {
	c, err := w.checkClaim(c)
	if err != nil {
		return Lease{}, w.fail("acquire", c.Election, err)
	}
	l, err := run(ctx, w, func(ctx context.Context) (Lease, error) { return w.inner.Acquire(ctx, c) })
	return l, w.fail("acquire", c.Election, err)
}

func (w *wrapped) Renew(ctx context.Context, l Lease) (Lease, error) {
	l, err := w.checkRenewal(l)
	if err != nil {
		return Lease{}, w.fail("renew", l.Election, err)
	}
	got, err := run(ctx, w, func(ctx context.Context) (Lease, error) { return w.inner.Renew(ctx, l) })
	return got, w.fail("renew", l.Election, err)
}

func (w *wrapped) Release(ctx context.Context, l Lease, h Handover) error {
	if err := checkRelease(l, h); err != nil {
		return w.fail("release", l.Election, err)
	}
	if l.TTL > 0 {
		h.For = min(h.For, l.TTL)
	}
	_, err := run(ctx, w, func(ctx context.Context) (struct{}, error) { return struct{}{}, w.inner.Release(ctx, l, h) })
	return w.fail("release", l.Election, err)
}

func (w *wrapped) Get(ctx context.Context, election string) (Record, error) {
	if err := CheckName("election", election); err != nil {
		return Record{}, w.fail("get", election, err)
	}
	r, err := run(ctx, w, func(ctx context.Context) (Record, error) { return w.inner.Get(ctx, election) })
	return r, w.fail("get", election, err)
}

func (w *wrapped) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	if err := CheckName("election", election); err != nil {
		return nil, w.fail("watch", election, err)
	}
	ch, err := run(ctx, w, func(context.Context) (<-chan struct{}, error) { return w.inner.Watch(ctx, election) })
	return ch, w.fail("watch", election, err)
}

// Raise passes to the store's own Raise; a store without one can't, and says so.
func (w *wrapped) Raise(ctx context.Context, election string, token int64) error {
	raiser, ok := As[TokenRaiser](w.inner)
	if !ok {
		return w.fail("raise", election, fmt.Errorf("%w: this store can't raise its counter", ErrInvalid))
	}
	if err := CheckName("election", election); err != nil {
		return w.fail("raise", election, err)
	}
	_, err := run(ctx, w, func(ctx context.Context) (struct{}, error) { return struct{}{}, raiser.Raise(ctx, election, token) })
	return w.fail("raise", election, err)
}

func (w *wrapped) Close() error {
	w.mu.Lock()
	select {
	case <-w.closed:
		w.mu.Unlock()
		return nil
	default:
	}
	close(w.closed)
	w.mu.Unlock()
	err := w.inner.Close()
	done := make(chan struct{})
	go func() { defer close(done); w.calls.Wait() }()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		err = fmt.Errorf("calls are still under way %v after closing: %w", closeGrace, context.DeadlineExceeded)
	}
	return w.fail("close", "", err)
}

// run calls f and returns when f has, or at once when ctx ends or the store is closed: drivers don't all obey their context, and the elector's deadlines
// must not depend on them.
func run[T any](ctx context.Context, w *wrapped, f func(context.Context) (T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	w.mu.Lock()
	select {
	case <-w.closed:
		w.mu.Unlock()
		return none, ErrClosed
	default:
	}
	w.calls.Add(1)
	w.mu.Unlock()
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		defer w.calls.Done()
		value, err := f(ctx)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-answers: // it was in time after all
		return a.value, a.err
	default:
		return none, context.Cause(ctx)
	}
}

func (w *wrapped) checkClaim(c Claim) (Claim, error) {
	if err := CheckName("election", c.Election); err != nil {
		return c, err
	}
	if err := CheckName("candidate's ID", c.Candidate.ID); err != nil {
		return c, err
	}
	switch {
	case c.Attempt.IsZero():
		return c, fmt.Errorf("%w: the claim has no attempt; draw 128 random bits for each campaign", ErrInvalid)
	case c.Floor < 0 || c.Floor >= MaxToken:
		return c, fmt.Errorf("%w: the floor %d is not within 0 and %d", ErrInvalid, c.Floor, int64(MaxToken)-1)
	}
	if slices.Contains(c.Abandoned, c.Attempt) {
		return c, fmt.Errorf("%w: the claim lists its own attempt as abandoned", ErrInvalid)
	}
	var err error
	c.TTL, err = w.checkTTL(c.TTL)
	return c, err
}

// checkTTL refuses what the store can't do and rounds the rest up to its unit.
func (w *wrapped) checkTTL(ttl time.Duration) (time.Duration, error) {
	if ttl < w.limits.MinTTL || ttl > w.limits.MaxTTL {
		return 0, fmt.Errorf("%w: TTL %v is outside of what %s can keep, %v to %v", ErrInvalid, ttl, w.limits.Store, w.limits.MinTTL, w.limits.MaxTTL)
	}
	if unit := w.limits.Granularity; unit > 1 {
		ttl = (ttl + unit - 1).Truncate(unit)
	}
	return ttl, nil
}

// checkRenewal returns l with the TTL that the store keeps.
func (w *wrapped) checkRenewal(l Lease) (Lease, error) {
	ttl, err := w.checkTTL(l.TTL)
	if err == nil {
		err = checkLease(l)
	}
	if err == nil {
		l.TTL = ttl
	}
	return l, err
}

func checkLease(l Lease) error {
	if err := CheckName("election", l.Election); err != nil {
		return err
	}
	if err := CheckName("holder", l.Holder); err != nil {
		return err
	}
	if l.Token <= 0 || l.Token > MaxToken || l.Attempt.IsZero() {
		return fmt.Errorf("%w: a lease has a token within 1 and %d and an attempt; use the one that Acquire returned", ErrInvalid, int64(MaxToken))
	}
	return nil
}

func checkRelease(l Lease, h Handover) error {
	if l.Token == 0 {
		l.Token = 1 // released by its attempt alone
	}
	if err := checkLease(l); err != nil {
		return err
	}
	if h.To != "" {
		if err := CheckName("successor", h.To); err != nil {
			return err
		}
	}
	if h.For < 0 || h.To != "" && h.For == 0 {
		return fmt.Errorf("%w: a reservation of %v; it must be for more than zero and at most the TTL", ErrInvalid, h.For)
	}
	return nil
}

func (w *wrapped) fail(op, election string, err error) error {
	if err == nil {
		return nil
	}
	return &OpError{Op: op, Store: w.limits.Store, Election: election, Err: redact(err, w.secrets)}
}
