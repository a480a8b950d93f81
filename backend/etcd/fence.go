package etcd

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/fence"
)

// Compare returns what a transaction on the same cluster compares so that it is applied only while the term of a token lasts:
//
//	client.Txn(ctx).If(store.Compare(term.Election(), term.Token())...).Then(clientv3.OpPut("report", text)).Commit()
//
// The value of the leader key names the term by its token and its attempt. Renewals and Raise leave it alone, and no other term, also none of the same
// candidate, ever has the same. The transaction's user must be allowed to read the key.
//
// A store that was opened by URL is found with backend.As[*etcd.Store](store).
func (s *Store) Compare(election string, token fence.Token) []clientv3.Cmp {
	return []clientv3.Cmp{clientv3.Compare(clientv3.Value(s.names.leader(election)), "=", token.String())}
}
