package consul

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

const (
	// batch is how many leases a transaction renews: each takes two operations.
	batch = maxOps / 2
	// together is how many requests of a batch are under way at a time.
	together = 4
)

// RenewAll implements backend.BatchRenewer.
func (s *Store) RenewAll(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	renewals := make([]backend.Renewal, len(leases))
	chunks := (len(leases) + batch - 1) / batch
	each(chunks, func(i int) {
		from, to := i*batch, min((i+1)*batch, len(leases))
		s.renewChunk(ctx, leases[from:to], renewals[from:to])
	})
	return renewals
}

// renewChunk renews what it can in one transaction. One lease that is not as this store last wrote it makes the server refuse them all, and say which: it is renewed by itself then, and
// the others are asked for again.
func (s *Store) renewChunk(ctx context.Context, leases []backend.Lease, renewals []backend.Renewal) {
	var quick, slow []int
	for i, l := range leases {
		if grasp(l) != nil {
			quick = append(quick, i)
		} else {
			slow = append(slow, i)
		}
	}
	for len(quick) > 0 {
		changed, err := s.renewTogether(ctx, leases, quick, renewals)
		if err != nil {
			for _, i := range quick {
				renewals[i].Err = err
			}
			break
		}
		if len(changed) == 0 {
			break
		}
		slow = append(slow, changed...)
		quick = without(quick, changed)
	}
	each(len(slow), func(k int) {
		i := slow[k]
		renewals[i].Lease, renewals[i].Err = s.renewSlowly(ctx, leases[i])
	})
}

// renewTogether renews the leases at places in one transaction. When the server has refused it, nothing was renewed, and changed are the places to blame.
func (s *Store) renewTogether(ctx context.Context, leases []backend.Lease, places []int, renewals []backend.Renewal) (changed []int, err error) {
	views := make([]*view, len(places))
	var ops []*api.KVTxnOp
	for k, i := range places {
		v := grasp(leases[i])
		views[k] = v
		seen := expect(s.names.leader(v.election), v.leaderIndex)
		key, index := s.names.beat(v.election), v.beatIndex
		v.beat = v.beat.renewed(leases[i].TTL)
		ops = append(ops, seen, swap(key, index, v.beat))
	}
	index, err := s.apply(ctx, ops...)
	if refused, ok := errors.AsType[*refusal](err); ok {
		for k, i := range places {
			if refused.concerns(2*k, 2*k+2) {
				changed = append(changed, i)
			}
		}
		if len(changed) == 0 {
			return places, nil // it doesn't say: each by itself
		}
		return changed, nil
	}
	if err != nil {
		return nil, err
	}
	for k, i := range places {
		views[k].beatIndex = index
		renewals[i].Lease = views[k].lease()
		s.session.needs(leases[i].Attempt, leases[i].TTL)
	}
	return nil, nil
}

// without returns what is in all and not in some, both in ascending order.
func without(all, some []int) []int {
	var rest []int
	for _, i := range all {
		if len(some) > 0 && some[0] == i {
			some = some[1:]
			continue
		}
		rest = append(rest, i)
	}
	return rest
}

// each calls f for 0 to n-1, some at a time, and returns when all have returned.
func each(n int, f func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, together)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}
