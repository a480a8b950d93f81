package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestConformanceCluster(t *testing.T) {
	t.Parallel()
	set := testenv.RedisCluster(t)
	s := suite(set.URL()+"?"+patient, inner(t, client(t, set.URL(), "")).client)
	s.Target = "Redis Cluster"
	conformance.Run(t, s)
}

func TestClusterWithTLS(t *testing.T) {
	ca := testenv.NewAuthority(t)
	pair := ca.Server()
	set := testenv.RedisCluster(t, testenv.Options{TLS: &pair})
	s := client(t, set.URL()+"&cacert="+ca.CA(), "")
	wake := watching(t, s, "e")
	renew(t, s, acquire(t, s, claim("e", "a")))
	woken(t, "grant", wake)
	for _, r := range backend.RenewAll(deadline(t, ample), s, leases(t, s, 9)) {
		class(t, "renewal", r.Err, backend.OK)
	}
}

// slot is where an election lies.
func slot(t *testing.T, s backend.LeaseStore, election string) int64 {
	t.Helper()
	in := inner(t, s)
	return must[int64](t)(in.client.ClusterKeySlot(deadline(t, ample), in.names.key(election)).Result())
}

// E9, S13: elections lie on all nodes. A batch is one pipeline for each node, no script crosses slots, and each lease gets what Renew would have given it.
func TestClusterRenewAll(t *testing.T) {
	t.Parallel()
	set := testenv.RedisCluster(t)
	s := client(t, set.URL(), "")
	all := leases(t, s, 60)
	release(t, s, all[7])
	calls := func() []int64 {
		var each []int64
		for _, m := range set.Members() {
			each = append(each, scripts(t, raw(t, "redis://:"+testenv.Password()+"@"+m.Addr())))
		}
		return each
	}
	check := func(when string) {
		t.Helper()
		for i, r := range backend.RenewAll(deadline(t, ample), s, all) {
			want := backend.OK
			if i == 7 {
				want = backend.NotHeld
			}
			class(t, fmt.Sprint("renewal ", i, when), r.Err, want)
			if want == backend.OK && r.Lease != all[i] {
				t.Errorf("renewal %d%s: %+v", i, when, r.Lease)
			}
		}
	}
	before := calls()
	check("")
	for i, n := range calls() {
		if n == before[i] {
			t.Errorf("node %d renewed nothing", i)
		}
	}
	for _, m := range set.Members() {
		raw(t, "redis://:"+testenv.Password()+"@"+m.Addr()).ScriptFlush(deadline(t, ample))
	}
	check(" after SCRIPT FLUSH")
	if got := s.Limits().Batch; got != 1 {
		t.Errorf("Limits.Batch = %d", got)
	}
}

// move takes an election's slot to the next node. half stops in the middle: the key has moved, the slot hasn't.
func move(t *testing.T, set *testenv.Cluster, s backend.LeaseStore, election string, half bool) {
	t.Helper()
	ctx := deadline(t, ample)
	in, at := inner(t, s), slot(t, s, election)
	var nodes []*goredis.Client
	var ids []string
	from := -1
	for i, m := range set.Members() {
		n := raw(t, "redis://:"+testenv.Password()+"@"+m.Addr())
		nodes, ids = append(nodes, n), append(ids, must[string](t)(n.Do(ctx, "cluster", "myid").Text()))
		if keys, err := n.ClusterGetKeysInSlot(ctx, int(at), 1).Result(); err == nil && len(keys) > 0 {
			from = i
		}
	}
	to := (from + 1) % len(nodes)
	do := func(n *goredis.Client, args ...any) {
		t.Helper()
		if err := n.Do(ctx, args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	do(nodes[to], "cluster", "setslot", at, "importing", ids[from])
	do(nodes[from], "cluster", "setslot", at, "migrating", ids[to])
	host, port, _ := strings.Cut(set.Members()[to].Addr(), ":")
	do(nodes[from], "migrate", host, port, in.names.key(election), "0", "5000", "auth", testenv.Password())
	if half {
		return
	}
	for _, n := range []int{to, from, 3 - to - from} { // all, so that no node sends a client to where the slot was
		do(nodes[n], "cluster", "setslot", at, "node", ids[to])
	}
}

// A slot moves to another node, or is on its way there. Calls follow it, batches too; the lease and its token are as before.
func TestClusterMovedSlot(t *testing.T) {
	set := testenv.RedisCluster(t)
	for _, half := range []bool{false, true} {
		t.Run("half "+strconv.FormatBool(half), func(t *testing.T) {
			single, batched, careful := client(t, set.URL(), ""), client(t, set.URL(), ""), client(t, set.URL(), "wait=1")
			all := leases(t, single, 12)
			for _, s := range []backend.LeaseStore{batched, careful} {
				get(t, s, all[0].Election) // it knows the slots as they are now
			}
			for _, l := range all[:4] {
				move(t, set, single, l.Election, half)
			}
			for i, r := range backend.RenewAll(deadline(t, ample), batched, all) {
				class(t, fmt.Sprint("renewal ", i), r.Err, backend.OK)
			}
			for _, l := range all {
				renew(t, single, l)
				if r := get(t, single, l.Election); r.Token != l.Token || r.Renewals != 2 {
					t.Errorf("after the move there is %+v", r)
				}
			}
			if !half {
				eventually(t, "who waits for replicas finds the node", func() bool { // and is told that it has none
					_, err := careful.Renew(deadline(t, ample), all[0])
					class(t, "renew", err, backend.Unknown)
					return strings.Contains(err.Error(), "0 of 1 replicas")
				})
			}
			for _, l := range all {
				release(t, single, l)
			}
		})
	}
}

// A node that is away leaves its elections unknown; when it is back, all work again.
func TestClusterNodeAway(t *testing.T) {
	t.Parallel()
	set := testenv.RedisCluster(t, testenv.Options{Settings: []string{"appendonly yes", "appendfsync always"}})
	s := client(t, set.URL(), "timeout=500ms")
	all := leases(t, s, 30)
	set.Members()[1].Kill()
	unknown := 0
	for _, r := range backend.RenewAll(deadline(t, ample), s, all) {
		switch backend.ClassOf(r.Err) {
		case backend.OK:
		case backend.Unknown:
			unknown++
		default:
			t.Errorf("renewal while a node is away: %v", r.Err)
		}
	}
	if unknown == 0 {
		t.Error("nothing lay on the node that is away")
	}
	set.Members()[1].Start()
	set.Settle()
	eventually(t, "all work again", func() bool {
		for _, r := range backend.RenewAll(deadline(t, ample), s, all) {
			if r.Err != nil {
				class(t, "renewal after", r.Err, backend.Unknown)
				return false
			}
		}
		return true
	})
}

// The policy for a cluster is enough for the whole contract, and none of what it has beyond the policy for one server can go.
func TestClusterPolicy(t *testing.T) {
	set := testenv.RedisCluster(t)
	rules := policy(t, "redis-cluster.acl", "0")
	allow := func(t *testing.T, rules []string) {
		for _, m := range set.Members() {
			grant(t, raw(t, "redis://:"+testenv.Password()+"@"+m.Addr()), rules)
		}
	}
	at := strings.Replace(set.URL(), "://:", "://billing:", 1)
	allow(t, rules)
	s := suite(at+"?prefix=billing&"+patient, inner(t, client(t, set.URL(), "")).client)
	s.Plant = nil
	conformance.Run(t, variant(s))
	needed := map[string]grantCase{
		"+cluster|slots": {"an election is found", "", grantsFirst},
		"+asking":        {"a lease is renewed whose slot is on its way", "", renewsInTransit(t, set)},
	}
	for i, rule := range rules {
		if !slices.Contains(policy(t, "redis.acl", "0"), rule) {
			checkGrant(t, rules, i, needed[rule], func(t *testing.T, rules []string, c grantCase) error {
				allow(t, rules)
				return c.check(t, client(t, at, "prefix=billing"), nil)
			})
		}
	}
}

// renewsInTransit needs an election that no earlier play has moved.
func renewsInTransit(t *testing.T, set *testenv.Cluster) func(*testing.T, backend.LeaseStore, *goredis.Client) error {
	plays := 0
	all := client(t, set.URL(), "prefix=billing")
	return func(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
		plays++
		l := acquire(t, all, claim(fmt.Sprint("transit", plays), "a"))
		move(t, set, all, l.Election, true)
		_, err := s.Renew(deadline(t, ample), l)
		return err
	}
}
