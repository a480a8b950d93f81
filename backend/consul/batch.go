package consul

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

const (
	// batch is how many leases a transaction renews: each takes two operations.
	batch = maxOps / 2
	// relook is how many it renews, or reads, where that takes three: for keys that it doesn't know, or that have lost their session.
	relook = maxOps / 3
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

// renewChunk renews what it can in one transaction. One lease that is not as this store last wrote it makes the server refuse them all, and say which: the others are asked for again, without it.
// What is left then is looked at together and tried again: after a lost reply, or with a lost session, that is all of them, and one by one would take too long.
func (s *Store) renewChunk(ctx context.Context, leases []backend.Lease, renewals []backend.Renewal) {
	views := make([]*view, len(leases))
	var quick, rest []int
	for i, l := range leases {
		if views[i] = grasp(l); views[i] != nil {
			quick = append(quick, i)
		} else {
			rest = append(rest, i)
		}
	}
	rest = append(rest, s.renewAtOnce(ctx, leases, views, quick, renewals)...)
	for part := range slices.Chunk(rest, relook) {
		for tries := 0; tries < 2 && len(part) > 0; tries++ { // a lost session is found out by the first
			part = s.lookAtOnce(ctx, leases, views, part, renewals)
			part = s.renewAtOnce(ctx, leases, views, part, renewals)
		}
		for _, i := range part {
			renewals[i].Lease, renewals[i].Err = s.renewSlowly(ctx, leases[i])
		}
	}
}

// renewAtOnce renews the leases at places, by their views, and returns the places of those that are not as they were seen.
func (s *Store) renewAtOnce(ctx context.Context, leases []backend.Lease, views []*view, places []int, renewals []backend.Renewal) (rest []int) {
	for len(places) > 0 {
		changed, err := s.renewTogether(ctx, leases, views, places, renewals)
		if err != nil {
			for _, i := range places {
				renewals[i].Err = err
			}
			break
		}
		if len(changed) == 0 {
			break
		}
		rest = append(rest, changed...)
		places = without(places, changed)
	}
	return rest
}

// renewTogether renews the leases at places in one transaction. When the server has refused it, nothing was renewed, and changed are the places to blame.
func (s *Store) renewTogether(ctx context.Context, leases []backend.Lease, views []*view, places []int, renewals []backend.Renewal) (changed []int, err error) {
	extensions := make([]*extension, len(places))
	var ops []*api.KVTxnOp
	var ends []int // of the operations of each
	for k, i := range places {
		e, err := s.extension(ctx, views[i], views[i].beat.renewed(leases[i].TTL))
		if err != nil {
			return nil, err
		}
		extensions[k] = e
		ops = append(ops, e.ops...)
		ends = append(ends, len(ops))
	}
	reply, err := s.apply(ctx, ops...)
	if refused, ok := errors.AsType[*refusal](err); ok {
		from := 0
		for k, i := range places {
			if refused.concerns(from, ends[k]) {
				changed = append(changed, i)
				_ = s.session.refused(err, extensions[k].view.session)
			}
			from = ends[k]
		}
		if len(changed) == 0 {
			return places, nil // it doesn't say
		}
		return changed, nil
	}
	if err != nil {
		return nil, err
	}
	for k, i := range places {
		if renewals[i].Lease, err = s.extended(extensions[k], reply); err != nil {
			changed = append(changed, i)
		}
	}
	return changed, nil
}

// lookAtOnce reads the elections of the leases at places, and returns the places of those that may be renewed.
func (s *Store) lookAtOnce(ctx context.Context, leases []backend.Lease, views []*view, places []int, renewals []backend.Renewal) (owned []int) {
	var keys []string
	for _, i := range places {
		keys = append(keys, s.names.all(leases[i].Election)...)
	}
	pairs, err := s.fetch(ctx, keys...)
	for k, i := range places {
		views[i] = nil
		err := err
		if err == nil {
			views[i], err = s.read(leases[i].Election, keys[3*k:3*k+3], pairs[3*k:3*k+3])
		}
		if err == nil {
			err = s.owned(views[i], leases[i])
		}
		if renewals[i].Err = nothingThere(err); err == nil {
			owned = append(owned, i)
		}
	}
	return owned
}

// without returns what is in all and not in some, both in the same order.
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
