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
		if err := s.owned(v, l); err != nil {
			return err
		}
		var err error
		renewed, err = s.extend(ctx, v, v.beat.renewed(l.TTL))
		return err
	})
	return renewed, nothingThere(err)
}

// owned refuses a lease whose term is not the one in v.
func (s *Store) owned(v *view, l backend.Lease) error {
	if v.known() != nil || !v.is(l) {
		s.session.over(l.Attempt)
		return backend.ErrNotHeld
	}
	return nil
}

// extend makes the lease in v live for the TTL of its next beat, provided that leader and beat are as they were seen.
func (s *Store) extend(ctx context.Context, v *view, next beat) (backend.Lease, error) {
	e, err := s.extension(ctx, v, next)
	if err != nil {
		return backend.Lease{}, err
	}
	reply, err := s.apply(ctx, e.ops...)
	if err != nil {
		return backend.Lease{}, s.session.refused(err, e.view.session)
	}
	return s.extended(e, reply)
}

// extension is what a transaction does to make a lease live longer.
type extension struct {
	seen *view // before
	view view  // afterwards, but for the indexes
	ops  []*api.KVTxnOp
}

// extension plans the next beat of a lease. One whose session is gone gets the present one: it ends by silence alone, and silence there was none.
func (s *Store) extension(ctx context.Context, v *view, next beat) (*extension, error) {
	e := &extension{seen: v, view: *v}
	e.view.beat = next
	e.view.beat.Attempt, e.view.beat.Token = v.leader.Attempt, v.leader.Token // the beat that was seen may be none: somebody has removed the key
	key := s.names.leader(v.election)
	e.ops = append(e.ops, expect(key, v.leaderIndex))
	if v.session == "" {
		id, err := s.session.use(ctx)
		if err != nil {
			return nil, err
		}
		e.view.session = id
		e.ops = append(e.ops, &api.KVTxnOp{Verb: api.KVLock, Key: key, Value: encode(v.leader), Session: id})
	}
	e.ops = append(e.ops, swap(s.names.beat(v.election), v.beatIndex, e.view.beat))
	return e, nil
}

// extended is the lease after its transaction was applied. The reply tells the session of the key that was compared: where the servers have begun anew, without their data, the same index
// may be that of another's term.
func (s *Store) extended(e *extension, reply *written) (backend.Lease, error) {
	n := e.view
	if session := reply.sessions[s.names.leader(n.election)]; session != n.session {
		return backend.Lease{}, &refusal{reasons: api.TxnErrors{{What: "the index is that of another session's term"}}}
	}
	n.beatIndex = reply.index
	if e.seen.session == "" {
		n.leaderIndex = reply.index
	}
	s.session.needs(backend.Attempt(n.leader.Attempt), n.beat.TTL.span())
	return n.lease(), nil
}
