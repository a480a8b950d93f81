package elector

import (
	"context"
	"math/bits"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// renewal is a lease that a machine wants to have renewed.
type renewal struct {
	member  *member
	request uint64
	timeout int64
	lease   backend.Lease
}

// flush sends the renewals of this turn, together. Leases that are due soon go along.
func (l *loop) flush() {
	if len(l.renewals) == 0 {
		return
	}
	if now := l.clock.Read().Mono; len(l.busy) > 1 && now-l.beaten >= int64(l.cfg.RenewInterval/2) {
		l.beaten = now
		for _, m := range slices.Clone(l.busy) {
			l.step(m, core.Event{Kind: core.Beat})
		}
	}
	// One that has little time left must not cut the time of the others short.
	batches := map[int][]renewal{}
	for _, r := range l.renewals {
		size := bits.Len64(uint64(r.timeout))
		batches[size] = append(batches[size], r)
	}
	l.renewals = nil // thousands of them are only kept while they are under way
	for _, batch := range batches {
		l.fly()
		l.looks.giveWay(1) // what is led counts more than what is looked for
		go l.renew(batch)
	}
}

// renew renews a batch and tells the machines. The clocks are read before, so that a deadline is counted from before its request.
func (l *loop) renew(batch []renewal) {
	timeout := batch[0].timeout
	leases := make([]backend.Lease, len(batch))
	for i, r := range batch {
		timeout = min(timeout, r.timeout)
		leases[i] = r.lease
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(timeout))
	defer cancel()
	sent := l.clock.Read()
	var renewed []backend.Renewal
	if len(leases) == 1 {
		lease, err := l.store.Renew(ctx, leases[0])
		renewed = []backend.Renewal{{Lease: lease, Err: err}}
	} else {
		renewed = backend.RenewAll(ctx, l.store, leases)
	}
	l.looks.giveWay(-1)
	replies := make([]posted, len(batch))
	for i, r := range batch {
		e := core.Event{Kind: core.Renewed, Request: r.request, Sent: sent, Lease: renewed[i].Lease, Err: renewed[i].Err}
		replies[i] = posted{member: r.member, event: e}
	}
	replies[0].flight = -1
	l.post(replies...)
}
