package etcd

import (
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// EC6, EC7: one of three members hangs. Each call is answered by another within its time, and a follower on a deaf stream still finds the election free.
func TestHungMember(t *testing.T) {
	t.Parallel()
	members := testenv.EtcdCluster(t, 3)
	servers := members.Members()
	s := client(t, members.URL(), "ping=300ms&timeout=500ms")
	warm(t, s)
	l := acquire(t, s, claim("hung", "a"))
	wake := watching(t, s, "hung")
	hung := (leading(t, members) + 1) % 3 // a follower
	servers[hung].Freeze()
	defer servers[hung].Thaw()
	for i := range 12 { // the client goes round
		if _, err := s.Renew(deadline(t, 2*time.Second), l); err != nil {
			t.Errorf("renewal %d with a hung member: %v", i, err)
		}
		if _, err := s.Get(deadline(t, 2*time.Second), "hung"); err != nil {
			t.Errorf("get %d with a hung member: %v", i, err)
		}
	}
	for i := range 6 {
		l, err := s.Acquire(deadline(t, 2*time.Second), claim("other", fmt.Sprint(i)))
		if err != nil {
			t.Fatalf("claim %d with a hung member: %v", i, err)
		}
		if err := s.Release(deadline(t, 2*time.Second), l, backend.Handover{}); err != nil {
			t.Fatalf("release %d with a hung member: %v", i, err)
		}
	}
	for len(wake) > 0 {
		<-wake
	}
	release(t, s, l)
	woken(t, "a release while a member hangs", wake)
}

// EC5, EC37, EC38: the leader of the cluster is frozen for longer than a TTL and goes on, then is killed, and then all members are. Never two lead, and somebody leads again.
func TestClusterLosesItsLeader(t *testing.T) {
	t.Parallel()
	members := testenv.EtcdCluster(t, 3)
	servers := members.Members()
	c := compete(t, members.URL(), "cluster", 3*time.Second, 3)
	c.led(0)
	i := leading(t, members)
	servers[i].Freeze()
	until(t, 5*time.Second)
	servers[i].Thaw()
	c.led(0)
	i = leading(t, members)
	servers[i].Kill()
	c.led(0)
	servers[i].Start()
	members.Settle()
	c.led(0)
	before := c.terms.Load()
	for _, srv := range servers {
		srv.Freeze()
	}
	eventually(t, "the leader steps down while nobody answers", func() bool { return c.active.Load() == 0 }) // EC37: whatever its watch has told it
	for _, srv := range servers {
		srv.Thaw()
	}
	c.led(before)
	t.Logf("%d terms", c.terms.Load())
}

// EC29: the cluster is away for longer than a TTL and starts again with its data.
func TestClusterRestarts(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t, testenv.Options{Own: true})
	c := compete(t, srv.URL(), "restarts", 2*time.Second, 3)
	c.led(0)
	for range 2 {
		before := c.terms.Load()
		srv.Kill()
		eventually(t, "the leader steps down", func() bool { return c.active.Load() == 0 })
		srv.Start()
		c.led(before)
	}
}

// EC1, EC26, EC33, E3: nothing reaches the leader, or its requests pass and the replies are lost. It stops before anybody else leads, which compete checks.
func TestLeaderIsCutOff(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	for what, cut := range map[string]func(*proxy.Proxy){
		"all packets vanish":  func(p *proxy.Proxy) { p.BlackHole(proxy.Both) },
		"replies are dropped": func(p *proxy.Proxy) { p.DropReplies() },
		"it is refused":       func(p *proxy.Proxy) { p.Down() },
	} {
		p, rawURL := through(t, srv)
		c := compete(t, rawURL, what, 2*time.Second, 1)
		c.led(0)
		c.join(srv.URL(), what, 2*time.Second)
		before := c.terms.Load()
		cut(p)
		c.led(before) // the other one
		p.Heal()
		until(t, 2*time.Second) // what was held back arrives
		c.led(before)
		c.stop()
	}
}

// EC14: the holder is dead, and the cluster's leader dies too, which begins the TTL anew. Another leads in the end, and not before the dead one's TTL.
func TestHolderAndClusterLeaderDie(t *testing.T) {
	t.Parallel()
	members := testenv.EtcdCluster(t, 3)
	servers := members.Members()
	s := client(t, members.URL(), "")
	c := claim("both", "a")
	c.TTL = 3 * time.Second
	sent := time.Now()
	acquire(t, s, c)
	until(t, 2*time.Second)
	servers[leading(t, members)].Kill()
	eventually(t, "another leads", func() bool {
		_, err := s.Acquire(deadline(t, 2*time.Second), claim("both", "b"))
		return err == nil
	})
	lived := time.Since(sent)
	t.Logf("the lease of %v was free after %v", c.TTL, lived)
	if lived < c.TTL {
		t.Errorf("granted to another after %v, want %v at least", lived, c.TTL)
	}
}

// until lets time pass that the case is about.
func until(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// EC5: a member that led and was frozen may revoke, when it goes on, etcd leases that its successor keeps alive. So the first renewal under another leader of the cluster moves
// the term to an etcd lease that the former one doesn't know; alone and in a batch, with the lease kept for the next claim, and only once.
func TestRenewalUnderAnotherLeader(t *testing.T) {
	t.Parallel()
	members := testenv.EtcdCluster(t, 3)
	operator := root(t, members.Members()[0])
	s := client(t, members.URL(), "")
	release(t, s, acquire(t, s, claim("spare", "a"))) // leaves a spare
	spare := inner(t, s).fleet.spares[60].id
	single := acquire(t, s, claim("single", "a"))
	if bound(t, operator, "single") != spare {
		t.Fatal("the spare was not used")
	}
	leases := many(t, s, 3, time.Minute)
	renewAll(t, s, leases)
	release(t, s, acquire(t, s, claim("spare", "a")))
	spare = inner(t, s).fleet.spares[60].id
	where := func() (ids [2]any) { return [2]any{bound(t, operator, "single"), bound(t, operator, "many/1")} }
	before := where()
	renew(t, s, single)
	renewAll(t, s, leases)
	if now := where(); now != before {
		t.Errorf("moved from %x to %x under the same leader", before, now)
	}
	transfer(t, members)
	renew(t, s, single)
	renewAll(t, s, leases)
	after := where()
	if after[0] == before[0] || after[1] == before[1] {
		t.Errorf("on %x before and on %x after another leader was elected", before, after)
	}
	acquire(t, s, claim("spare", "b"))
	if bound(t, operator, "spare") == spare {
		t.Error("a term began on an etcd lease of the former leader")
	}
	renew(t, s, single)
	renewAll(t, s, leases)
	if now := where(); now != after {
		t.Errorf("moved again from %x to %x", after, now)
	}
}

// transfer makes another member lead the cluster.
func transfer(t *testing.T, members *testenv.Cluster) {
	t.Helper()
	from := leading(t, members)
	to := must[*clientv3.StatusResponse](t)(root(t, members.Members()[(from+1)%3]).Status(deadline(t, ample), "http://"+members.Members()[(from+1)%3].Addr()))
	must[*clientv3.MoveLeaderResponse](t)(root(t, members.Members()[from]).MoveLeader(deadline(t, ample), to.Header.MemberId))
	members.Settle()
}
