package consul

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

func servers(t *testing.T, n int) *testenv.Cluster {
	t.Helper()
	return testenv.ConsulCluster(t, n)
}

// cluster is three servers with three candidates of an election.
func cluster(t *testing.T, ttl time.Duration) (*testenv.Cluster, *roll, map[string]*party) {
	t.Helper()
	c := servers(t, 3)
	r := newRoll()
	parties := map[string]*party{}
	for _, name := range []string{"a", "b", "c"} {
		parties[name] = r.join(t, name, client(t, c.URL(), ""), ttl)
	}
	r.term(t, 0)
	<-time.After(ttl) // the others watch
	return c, r, parties
}

// count is the number of terms so far.
func (r *roll) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.terms)
}

// leads waits until one of the parties leads.
func leads(t *testing.T, parties map[string]*party) string {
	t.Helper()
	name := ""
	eventually(t, "somebody leads", func() bool {
		for n, p := range parties {
			if p.Leading() {
				name = n
			}
		}
		return name != ""
	})
	return name
}

// EC53, EC66, EC14: the leader of the servers is killed, and comes back. Leadership stays or moves, and never are there two. A session that lives on by its full time after that, or a lock-delay (EC62),
// keeps nobody out: the election goes on when the leader of the election is cut off right afterwards.
func TestTheServersLoseTheirLeader(t *testing.T) {
	const ttl = 5 * time.Second
	c, r, parties := cluster(t, ttl)
	for range 2 {
		lost := c.Leader()
		if lost < 0 {
			t.Fatal("the servers have no leader")
		}
		before := r.count()
		c.Members()[lost].Kill()
		killed := time.Now()
		eventually(t, "the others agree on a leader", func() bool { return c.Leader() >= 0 })
		t.Logf("the servers have a leader again after %v", time.Since(killed))
		name := leads(t, parties)
		t.Logf("%s leads, after %d more terms", name, r.count()-before)
		c.Members()[lost].Start()
		c.Settle()
	}
	r.check(t)
	name, n := leads(t, parties), r.count()
	id, _ := inner(t, parties[name].Config().Store).session.current()
	leader := parties[name]
	cut := time.Now()
	if err := leader.Config().Store.Close(); err != nil { // nothing can be renewed or released any more
		t.Fatal(err)
	}
	next := r.term(t, n)
	t.Logf("the lead went from %s, with session %s, to %s %v after the cut, at a TTL of %v", name, id, next.name, next.from.Sub(cut), ttl)
	r.check(t)
}

// EC5, EC6: the leader of the servers hangs for longer than a lease and goes on then: nobody leads twice, and the token grows.
func TestTheServersLeaderHangs(t *testing.T) {
	const ttl = 5 * time.Second
	c, r, parties := cluster(t, ttl)
	lost := c.Members()[c.Leader()]
	lost.Freeze()
	eventually(t, "the others agree on a leader", func() bool { return c.Leader() >= 0 })
	leads(t, parties)
	<-time.After(2 * ttl)
	lost.Thaw()
	c.Settle()
	<-time.After(ttl)
	t.Logf("%d terms, %s leads", r.count(), leads(t, parties))
	r.check(t)
}

// The host that a store uses hangs: a holder's renewals find another one in time.
func TestAHungServerCostsNoLease(t *testing.T) {
	c := servers(t, 3)
	s := client(t, c.URL(), "")
	l := acquire(t, s, claim("e", "P"))
	w := inner(t, s).wire
	w.mu.Lock()
	used := w.at
	w.mu.Unlock()
	if used == c.Leader() {
		t.Log("the store uses the servers' leader")
	}
	c.Members()[used].Freeze()
	began := time.Now()
	eventually(t, "a renewal by another server", func() bool {
		renewed, err := s.Renew(deadline(t, time.Second), l)
		if err != nil {
			class(t, "renewal", err, backend.Unknown)
			return false
		}
		l = renewed
		return true
	})
	t.Logf("renewed %v after the server hung", time.Since(began))
	c.Members()[used].Thaw()
	c.Settle() // one that is told to end while it finds out that it leads no more takes its time
}
