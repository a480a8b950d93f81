package etcd

import (
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// EC2: the etcd lease which a waiting candidate keeps for its next term is revoked by hand. It isn't granted a term on it, but one on another when the election is free.
func TestRevokedSpareCarriesNoTerm(t *testing.T) {
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	holder, waiting := client(t, srv.URL(), ""), client(t, srv.URL(), "")
	l := acquire(t, waiting, claim("spare", "b"))
	spare := bound(t, operator, "spare")
	release(t, waiting, l)
	held := acquire(t, holder, claim("spare", "a"))
	next := claim("spare", "b")
	refused := func(when string) {
		t.Helper()
		_, err := waiting.Acquire(deadline(t, ample), next)
		class(t, when, err, backend.Held)
	}
	refused("claim while another holds")
	must[*clientv3.LeaseRevokeResponse](t)(operator.Revoke(deadline(t, ample), spare))
	refused("claim after the spare is gone")
	release(t, holder, held)
	l = acquire(t, waiting, next)
	if on := bound(t, operator, "spare"); on <= 0 || on == spare || l.Token <= held.Token {
		t.Errorf("token %d after %d on etcd lease %x; %x was revoked", l.Token, held.Token, on, spare)
	}
	renew(t, waiting, l)
}

// EC17: the server doesn't end a dead holder's etcd lease (here because somebody refreshes it). A challenger doesn't take the election from under a lease that lives; when it
// ends, the next claim is granted.
func TestLeaseThatTheServerDoesNotEnd(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	c := claim("immortal", "dead")
	c.TTL = 4 * time.Second
	dead := acquire(t, s, c)
	id := bound(t, operator, "immortal")
	tick := time.NewTicker(c.TTL / 20)
	defer tick.Stop()
	for over := time.Now().Add(5 * c.TTL / 2); time.Now().Before(over); <-tick.C {
		must[*clientv3.LeaseKeepAliveResponse](t)(operator.KeepAliveOnce(deadline(t, ample), id))
		_, err := s.Acquire(deadline(t, ample), claim("immortal", "b"))
		class(t, "claim while the etcd lease lives", err, backend.Held)
	}
	var l backend.Lease
	eventually(t, "another is granted", func() (granted bool) {
		var err error
		l, err = s.Acquire(deadline(t, ample), claim("immortal", "b"))
		return err == nil
	})
	if l.Token <= dead.Token {
		t.Errorf("token %d after %d", l.Token, dead.Token)
	}
}

// DX7, PE33: how long a key without an etcd lease has been silent doesn't go by the wall clock: what is kept has its monotonic reading, which Since prefers.
func TestSilenceIsMeasuredOnTheMonotonicClock(t *testing.T) {
	var s silence
	v := view{election: "e", leader: "by hand", leaderRev: 1}
	v.observe(&s)
	if since := s.seen["e"].since.String(); !strings.Contains(since, " m=") {
		t.Errorf("since is %s, without a monotonic reading", since)
	}
}
