package etcd

import (
	"net/url"
	"path"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// names makes keys. The escaped parts hold no slash, so that no election's keys lie below another's, and none of another prefix below this one.
//
// What belongs to no single election, or isn't an election's record, begins with a tilde, which no escaped part has and which comes after all that they have.
type names struct{ root string }

const aside = "~"

func newNames(prefix string) names { return names{root: backend.Escape(prefix) + "/"} }

// base is what all keys of an election start with.
func (n names) base(election string) string { return n.root + backend.Escape(election) + "/" }

func (n names) leader(election string) string   { return n.base(election) + "leader" }
func (n names) counter(election string) string  { return n.base(election) + "counter" }
func (n names) reserved(election string) string { return n.base(election) + "reserved" }

// elections is the range of all elections' keys, from root on.
func (n names) elections() clientv3.OpOption { return clientv3.WithRange(n.root + aside) }

// floor is the key of the prefix's floor.
func (n names) floor() string { return n.root + aside + "floor" }

// list is what the keys of an election's roster start with.
func (n names) list(election string) string {
	return n.root + aside + "roster/" + backend.Escape(election) + "/"
}

func (n names) listing(election, candidate string) string {
	return n.list(election) + backend.Escape(candidate)
}

// election is the name to which a leader or counter key belongs; ok is false for other keys.
func (n names) election(key string) (name string, ok bool) {
	base, kind := path.Split(key)
	part := strings.TrimPrefix(strings.TrimSuffix(base, "/"), n.root)
	name, err := url.PathUnescape(part)
	return name, err == nil && backend.Escape(name) == part && (kind == "leader" || kind == "counter") && backend.CheckName("election", name) == nil
}

// below is the range of all keys that start with base, which ends in a slash.
func below(base string) clientv3.OpOption {
	return clientv3.WithRange(clientv3.GetPrefixRangeEnd(base))
}

// identity is the value of a lease's leader key: it names one term, and no other term ever has the same.
func identity(l backend.Lease) string { return l.Fence().String() }
