package consul

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// Release implements backend.LeaseStore.
func (s *Store) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	if v := grasp(l); v != nil {
		err := s.free(ctx, v, h)
		if _, changed := errors.AsType[*refusal](err); !changed {
			return err
		}
	}
	err := s.settle(ctx, l.Election, func(v *view) error {
		same := v.known() == nil && v.leader.Attempt == attempt(l.Attempt) && (l.Token == 0 || l.Token == v.leader.Token)
		switch {
		case same && v.leader.State == released: // by an earlier call
			return nil
		case !same || !v.is(l):
			return backend.ErrNotHeld
		}
		return s.free(ctx, v, h)
	})
	if err == nil || errors.Is(err, backend.ErrNotHeld) {
		s.session.over(l.Attempt)
	}
	return nothingThere(err)
}

// free ends the term in v, provided that the leader key is as it was seen: a late copy frees no later term. The key stays, with the term's token and attempt.
func (s *Store) free(ctx context.Context, v *view, h backend.Handover) error {
	n := v.leader
	n.State = released
	if h.For > 0 {
		n.ReservedTo, n.Reserved = h.To, inMillis(min(h.For, max(v.ttl(), time.Millisecond)))
	}
	key := s.names.leader(v.election)
	write := swap(key, v.leaderIndex, n)
	if v.session != "" {
		write = &api.KVTxnOp{Verb: api.KVUnlock, Key: key, Value: encode(n), Session: v.session}
	}
	_, err := s.apply(ctx, expect(key, v.leaderIndex), write)
	if err == nil {
		s.session.over(backend.Attempt(v.leader.Attempt))
	}
	return err
}
