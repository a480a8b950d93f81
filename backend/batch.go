package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

var (
	errTwice = fmt.Errorf("%w: the batch renews this election twice", ErrInvalid)
	errShort = errors.New("the store's reply has too few renewals")
)

// batchTogether is how many renewals RenewAll has under way at a time where the store can't batch them.
const batchTogether = 16

// BatchRenewer is an optional interface of stores which renew many leases with one request.
type BatchRenewer interface {
	// RenewAll renews each of leases, which are of different elections, as Renew does. The reply has one Renewal for each lease, in the same order. One that is lost or
	// refused doesn't harm the others; an error of the request as a whole stands in every Renewal that it concerns.
	RenewAll(ctx context.Context, leases []Lease) []Renewal
}

// Renewal is what became of one lease of a batch: the renewed lease, or an error as Renew returns it.
type Renewal struct {
	Lease Lease
	Err   error
}

// RenewAll renews leases, which are of different elections, with as few requests as the store can: see [BatchRenewer]. A store without it renews them one by one,
// some at a time. The reply is in the order of leases.
func RenewAll(ctx context.Context, s LeaseStore, leases []Lease) []Renewal {
	if b, ok := As[BatchRenewer](s); ok {
		return b.RenewAll(ctx, leases)
	}
	return renewEach(ctx, s, leases)
}

func renewEach(ctx context.Context, s LeaseStore, leases []Lease) []Renewal {
	renewals := make([]Renewal, len(leases))
	var all sync.WaitGroup
	slots := make(chan struct{}, batchTogether)
	for i, l := range leases {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			renewals[i].Lease, renewals[i].Err = s.Renew(ctx, l)
		})
	}
	all.Wait()
	return renewals
}

// RenewAll checks each lease as Renew does and passes the good ones on together.
func (w *wrapped) RenewAll(ctx context.Context, leases []Lease) []Renewal {
	batch, ok := As[BatchRenewer](w.inner)
	if !ok {
		return renewEach(ctx, w, leases)
	}
	renewals := make([]Renewal, len(leases))
	var good []Lease
	var places []int
	elections := make(map[string]bool, len(leases))
	for i, l := range leases {
		l, err := w.checkRenewal(l)
		if err == nil && elections[l.Election] {
			err = errTwice
		}
		if err != nil {
			renewals[i].Err = w.fail("renew", l.Election, err)
			continue
		}
		elections[l.Election] = true
		good, places = append(good, l), append(places, i)
	}
	if len(good) == 0 {
		return renewals
	}
	got, err := run(ctx, w, func(ctx context.Context) ([]Renewal, error) { return batch.RenewAll(ctx, good), nil })
	for k, i := range places {
		switch {
		case err != nil:
			renewals[i].Err = w.fail("renew", good[k].Election, err)
		case k >= len(got):
			renewals[i].Err = w.fail("renew", good[k].Election, errShort)
		default:
			renewals[i] = Renewal{Lease: got[k].Lease, Err: w.fail("renew", good[k].Election, got[k].Err)}
		}
	}
	return renewals
}
