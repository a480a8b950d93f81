package consul

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// Acquire implements backend.LeaseStore.
func (s *Store) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	var l backend.Lease
	err := s.settle(ctx, c.Election, func(v *view) error {
		token, repeat, err := v.judge(c)
		switch {
		case err != nil:
			return err
		case repeat:
			l, err = s.extend(ctx, v, v.beat.repeated(c.TTL))
		default:
			l, err = s.grant(ctx, v, c, token)
		}
		return err
	})
	return l, err
}

// rounds bounds how often a call reads the record and finds it changed when it writes. Each round that fails is another writer's success.
const rounds = 64

// settle looks at an election and acts on what it saw, again while others are faster.
func (s *Store) settle(ctx context.Context, election string, act func(*view) error) error {
	var last *refusal
	for range rounds {
		v, err := s.look(ctx, election)
		if err != nil {
			return err
		}
		if err = act(v); !errors.As(err, &last) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", errContended, last)
}

// judge decides on a claim, see S1 to S3 of the contract. The order of the checks is part of the contract too.
func (v *view) judge(c backend.Claim) (token int64, repeat bool, err error) {
	if err := v.known(); err != nil {
		return 0, false, err
	}
	if !backend.FloorInRange(c.Floor, v.counter.Highest, time.Now()) {
		return 0, false, fmt.Errorf("%w: the floor %d is far above the counter %d", backend.ErrInvalid, c.Floor, v.counter.Highest)
	}
	own := v.leader.Holder == c.Candidate.ID
	spent := v.leader.Attempt == attempt(c.Attempt) || v.lost() && v.beat.Attempt == attempt(c.Attempt)
	switch {
	case v.held() && own && spent:
		return 0, true, nil
	case v.held() && own && slices.Contains(c.Abandoned, backend.Attempt(v.leader.Attempt)):
	case v.held() && v.left > 0:
		return 0, false, &backend.HeldError{Record: v.record()}
	case spent:
		return 0, false, fmt.Errorf("%w: this attempt has had its term", backend.ErrNotHeld)
	case v.left > 0 && v.leader.ReservedTo != c.Candidate.ID:
		return 0, false, &backend.HeldError{Record: v.record()}
	}
	if c.Seen.Known && c.Seen.Counter != v.counter.Highest {
		return 0, false, backend.ErrOutdated
	}
	token, ok := backend.NextToken(v.ground(), c.Floor, 0)
	if !ok {
		return 0, false, fmt.Errorf("%w: the election has used up its tokens", backend.ErrInvalid)
	}
	return token, false, nil
}

// grant begins a term in one transaction, provided that leader, beat and counter are as they were seen: a holder that has beaten since keeps its lease.
func (s *Store) grant(ctx context.Context, v *view, c backend.Claim, token int64) (backend.Lease, error) {
	id, err := s.session.use(ctx)
	if err != nil {
		return backend.Lease{}, err
	}
	ttl := inMillis(c.TTL)
	n := *v
	n.session = id
	n.leader = leader{
		Version: backend.Version, State: held, Mode: backend.Beat, Holder: c.Candidate.ID, Description: c.Candidate.Description, Token: token,
		Attempt: attempt(c.Attempt), TTL: ttl, Granted: time.Now().UnixMilli(),
	}
	n.beat = beat{Attempt: attempt(c.Attempt), Token: token, TTL: ttl}
	key := s.names.leader(v.election)
	ops := []*api.KVTxnOp{expect(key, v.leaderIndex)}
	if v.session != "" {
		ops = append(ops, &api.KVTxnOp{Verb: api.KVDeleteCAS, Key: key, Index: v.leaderIndex})
	}
	ops = append(ops,
		&api.KVTxnOp{Verb: api.KVLock, Key: key, Value: encode(n.leader), Session: id},
		swap(s.names.beat(v.election), v.beatIndex, n.beat),
		swap(s.names.counter(v.election), v.counterIndex, counter{Highest: token, Granted: token, TTL: ttl}))
	ops = append(ops, v.grounded(s.names)...)
	s.session.needs(c.Attempt, c.TTL)
	reply, err := s.apply(ctx, ops...)
	if err != nil {
		if _, refused := errors.AsType[*refusal](err); refused {
			s.session.over(c.Attempt)
		}
		return backend.Lease{}, s.session.refused(err, id)
	}
	n.leaderIndex, n.beatIndex = reply.index, reply.index
	return n.lease(), nil
}
