package conformance_test

import (
	"context"
	"sync/atomic"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// counted counts what a client asks, as a server does.
type counted struct {
	*memory.Store
	requests *atomic.Int64
}

func (c counted) Acquire(ctx context.Context, claim backend.Claim) (backend.Lease, error) {
	c.requests.Add(1)
	return c.Store.Acquire(ctx, claim)
}

func (c counted) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	c.requests.Add(1)
	return c.Store.Renew(ctx, l)
}

func (c counted) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	c.requests.Add(1)
	return c.Store.Release(ctx, l, h)
}

func (c counted) Get(ctx context.Context, election string) (backend.Record, error) {
	c.requests.Add(1)
	return c.Store.Get(ctx, election)
}

func (c counted) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	c.requests.Add(1)
	return c.Store.Watch(ctx, election)
}
