package conformance

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// errLost is what a client sees of a lost message: it can't know which of the two was lost.
var errLost = errors.New("connection lost")

// fault is what happens to one request.
type fault int

const (
	lostRequest fault = iota + 1 // the store never sees it
	lostReply                    // the store applies it, the client is not told
	lateRequest                  // it arrives after link.delay
	lateReply                    // it is applied at once, the reply arrives after link.delay
)

// link is a client's way to its store. It keeps copies of what was sent, which may arrive again later.
type link struct {
	backend.LeaseStore
	delay time.Duration

	mu   sync.Mutex
	next fault
	last func(context.Context) error
}

func newLink(s backend.LeaseStore) *link { return &link{LeaseStore: s} }

func (l *link) Unwrap() backend.LeaseStore { return l.LeaseStore }

// fail makes f happen to the next request that changes something.
func (l *link) fail(f fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = f
}

// lateCopy keeps the last request and returns a function which delivers it again, as a network does that held a copy back.
func (l *link) lateCopy() func(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *link) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	return send(ctx, l, func(ctx context.Context) (backend.Lease, error) { return l.LeaseStore.Acquire(ctx, c) })
}

func (l *link) Renew(ctx context.Context, lease backend.Lease) (backend.Lease, error) {
	return send(ctx, l, func(ctx context.Context) (backend.Lease, error) { return l.LeaseStore.Renew(ctx, lease) })
}

func (l *link) Release(ctx context.Context, lease backend.Lease, h backend.Handover) error {
	_, err := send(ctx, l, func(ctx context.Context) (backend.Lease, error) {
		return backend.Lease{}, l.LeaseStore.Release(ctx, lease, h)
	})
	return err
}

func send(ctx context.Context, l *link, request func(context.Context) (backend.Lease, error)) (backend.Lease, error) {
	l.mu.Lock()
	f := l.next
	l.next = 0
	l.last = func(ctx context.Context) error { _, err := request(ctx); return err }
	l.mu.Unlock()
	switch f {
	case lostRequest:
		return backend.Lease{}, errLost
	case lateRequest:
		pause(ctx, l.delay)
	}
	lease, err := request(ctx)
	switch f {
	case lostReply:
		return backend.Lease{}, errLost
	case lateReply:
		pause(ctx, l.delay)
	}
	return lease, err
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
