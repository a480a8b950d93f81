package consul

import (
	"context"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// Fence returns what to put at the beginning of a transaction on the same servers, so that it is applied only while the term of the token goes on:
//
//	ops, err := store.Fence(ctx, term.Election(), term.Token())
//	if err != nil {
//		return err
//	}
//	ok, reply, _, err := client.KV().Txn(append(ops, writes...), nil)
//
// The server compares in the moment in which it applies the writes, so that a transaction which was frozen on its way is refused once the term was released or another one has begun, of
// the same candidate too. Renewals don't disturb it. The operations may be used again; where the server refuses them although the leader still leads, its session was lost
// and replaced: ask anew.
//
// It returns ErrNotHeld when the term is over.
func (s *Store) Fence(ctx context.Context, election string, token fence.Token) (api.KVTxnOps, error) {
	v, err := s.look(ctx, election)
	if err != nil {
		return nil, err
	}
	if v.known() != nil || !v.held() || v.leader.Token != token.Value || v.leader.Attempt != attempt(token.Attempt) {
		return nil, backend.ErrNotHeld
	}
	ops := api.KVTxnOps{expect(s.names.leader(election), v.leaderIndex)}
	if v.session != "" { // an index comes again where the servers have begun anew, a session doesn't
		ops = append(ops, &api.KVTxnOp{Verb: api.KVCheckSession, Key: s.names.leader(election), Session: v.session})
	}
	return ops, nil
}
