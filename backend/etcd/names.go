package etcd

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// names makes keys. The escaped parts hold no slash, so that no election's keys lie below another's, and none of another prefix below this one.
type names struct{ root string }

func newNames(prefix string) names { return names{root: backend.Escape(prefix) + "/"} }

// base is what all keys of an election start with.
func (n names) base(election string) string { return n.root + backend.Escape(election) + "/" }

func (n names) leader(election string) string   { return n.base(election) + "leader" }
func (n names) counter(election string) string  { return n.base(election) + "counter" }
func (n names) reserved(election string) string { return n.base(election) + "reserved" }

// below is the range of all keys that start with base, which ends in a slash.
func below(base string) clientv3.OpOption {
	return clientv3.WithRange(clientv3.GetPrefixRangeEnd(base))
}

// identity is the value of a lease's leader key: it names one term, and no other term ever has the same.
func identity(l backend.Lease) string { return l.Fence().String() }
