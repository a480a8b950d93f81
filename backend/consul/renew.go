package consul

import (
	"context"
	"errors"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// Renew implements backend.LeaseStore.
func (s *Store) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	if v := grasp(l); v != nil {
		renewed, err := s.extend(ctx, v, v.beat.renewed(l.TTL))
		if _, changed := errors.AsType[*refusal](err); !changed {
			return renewed, err
		}
	}
	return s.renewSlowly(ctx, l)
}

// renewSlowly renews a lease of which this store doesn't know the last write: an outcome was unknown, the session is gone, or another client has renewed it.
func (s *Store) renewSlowly(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	var renewed backend.Lease
	err := s.settle(ctx, l.Election, func(v *view) error {
		if v.known() != nil || !v.is(l) {
			s.session.over(l.Attempt)
			return backend.ErrNotHeld
		}
		var err error
		renewed, err = s.extend(ctx, v, v.beat.renewed(l.TTL))
		return err
	})
	return renewed, nothingThere(err)
}

// extend makes the lease in v live for the TTL of its next beat, provided that leader and beat are as they were seen. A lease whose session is gone gets the present one: it ends by silence
// alone, and silence there was none.
func (s *Store) extend(ctx context.Context, v *view, next beat) (backend.Lease, error) {
	n := *v
	n.beat = next
	key := s.names.leader(v.election)
	ops := []*api.KVTxnOp{expect(key, v.leaderIndex)}
	if v.session == "" {
		id, err := s.session.use(ctx)
		if err != nil {
			return backend.Lease{}, err
		}
		n.session = id
		ops = append(ops, &api.KVTxnOp{Verb: api.KVLock, Key: key, Value: encode(v.leader), Session: id})
	}
	ops = append(ops, swap(s.names.beat(v.election), v.beatIndex, n.beat))
	index, err := s.apply(ctx, ops...)
	if err != nil {
		return backend.Lease{}, s.ungranted(err, n.session)
	}
	n.beatIndex = index
	if v.session == "" {
		n.leaderIndex = index
	}
	s.session.needs(backend.Attempt(v.leader.Attempt), next.TTL.span())
	return n.lease(), nil
}
