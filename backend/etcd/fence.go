package etcd

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// Compare returns what a transaction on the same cluster compares so that it is applied only while l's term lasts:
//
//	client.Txn(ctx).If(store.Compare(term.Lease())...).Then(clientv3.OpPut("report", text)).Commit()
//
// The value of the leader key names the term by its token, its attempt and its holder. Renewals and Raise leave it alone, and no other term, also none of the same
// candidate, ever has the same. The transaction's user must be allowed to read the key.
func (s *Store) Compare(l backend.Lease) []clientv3.Cmp {
	return []clientv3.Cmp{clientv3.Compare(clientv3.Value(s.names.leader(l.Election)), "=", identityOf(l))}
}
