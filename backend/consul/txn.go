package consul

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// maxOps is how many operations a transaction may have: every server since 1.12 takes as many.
const maxOps = 128

// expect is the operation which makes a transaction fail unless a key is as it was seen. Index zero stands for a key that was not there: for it check-index
// would fail in any case.
func expect(key string, index uint64) *api.KVTxnOp {
	if index == 0 {
		return &api.KVTxnOp{Verb: api.KVCheckNotExists, Key: key}
	}
	return &api.KVTxnOp{Verb: api.KVCheckIndex, Key: key, Index: index}
}

// swap is the operation which writes a key if it is as it was seen.
func swap(key string, index uint64, value any) *api.KVTxnOp {
	return &api.KVTxnOp{Verb: api.KVCAS, Key: key, Index: index, Value: encode(value)}
}

// written is what a transaction has left.
type written struct {
	index    uint64            // of what it wrote
	sessions map[string]string // of the keys that it compared or wrote
}

// apply runs a transaction. The error is a *refusal when the server has rolled it back, and otherwise
// leaves open whether it was applied.
func (s *Store) apply(ctx context.Context, ops ...*api.KVTxnOp) (*written, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ok, reply, _, err := s.client.KV().Txn(ops, new(api.QueryOptions).WithContext(ctx))
	switch {
	case err != nil:
		return nil, explain(err)
	case ok:
		s.contact() //nolint:contextcheck // its look outlives the call
		w := &written{sessions: make(map[string]string, len(reply.Results))}
		for _, pair := range reply.Results {
			w.index = max(w.index, pair.ModifyIndex)
			w.sessions[pair.Key] = pair.Session
		}
		return w, nil
	}
	refused := &refusal{reasons: reply.Errors}
	if errors.Is(explain(refused), backend.ErrDenied) {
		return nil, fmt.Errorf("%w: %s", backend.ErrDenied, refused.Error()) // no change of others, which a second look would settle
	}
	return nil, refused
}

// fetch reads keys as of one moment, by the leader of the servers after it has made sure that it still is. The reply has a pair for each key, in order; one that
// doesn't exist has index zero.
func (s *Store) fetch(ctx context.Context, keys ...string) (api.KVPairs, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ops := make(api.KVTxnOps, len(keys))
	for i, key := range keys {
		ops[i] = &api.KVTxnOp{Verb: api.KVGetOrEmpty, Key: key}
	}
	ok, reply, _, err := s.client.KV().Txn(ops, (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	switch {
	case err != nil:
		return nil, explain(err)
	case !ok:
		return nil, explain(&refusal{reasons: reply.Errors})
	case len(reply.Results) != len(keys):
		return nil, deniedBy(errShort)
	}
	s.contact() //nolint:contextcheck // its look outlives the call
	for i, pair := range reply.Results {
		if pair.Key != keys[i] {
			return nil, deniedBy(errShort)
		}
	}
	return reply.Results, nil
}

// tree reads the keys of a folder as of one moment, as fetch does. The floor key, which is read too, tells an empty folder from one that the token may not read. The folder's name is
// no part of a path here, where ".." would mean something else.
func (s *Store) tree(ctx context.Context, folder string) (api.KVPairs, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ops := api.KVTxnOps{{Verb: api.KVGetOrEmpty, Key: s.names.floor()}, {Verb: api.KVGetTree, Key: folder}}
	ok, reply, _, err := s.client.KV().Txn(ops, (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	switch {
	case err != nil:
		return nil, explain(err)
	case !ok:
		return nil, explain(&refusal{reasons: reply.Errors})
	case len(reply.Results) == 0 || reply.Results[0].Key != s.names.floor():
		return nil, deniedBy(errShort)
	}
	s.contact() //nolint:contextcheck // its look outlives the call
	return reply.Results[1:], nil
}
