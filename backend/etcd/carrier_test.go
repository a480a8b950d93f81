package etcd

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// many acquires n elections with one TTL.
func many(t testing.TB, s backend.LeaseStore, n int, ttl time.Duration) []backend.Lease {
	t.Helper()
	leases := make([]backend.Lease, n)
	for i := range leases {
		c := claim(fmt.Sprintf("many/%d", i), "a")
		c.TTL = ttl
		leases[i] = acquire(t, s, c)
	}
	return leases
}

func renewAll(t testing.TB, s backend.LeaseStore, leases []backend.Lease) {
	t.Helper()
	for i, r := range backend.RenewAll(deadline(t, ample), s, leases) {
		if r.Err != nil || r.Lease.Token != leases[i].Token || r.Lease.Attempt != leases[i].Attempt || r.Lease.AnchorAge != 0 {
			t.Fatalf("renewal of %s: %+v, %v", leases[i].Election, r.Lease, r.Err)
		}
	}
}

func bound(t testing.TB, c *clientv3.Client, election string) clientv3.LeaseID {
	t.Helper()
	got := must[*clientv3.GetResponse](t)(c.Get(deadline(t, ample), newNames(defaultPrefix).leader(election)))
	if len(got.Kvs) == 0 {
		return -1
	}
	return clientv3.LeaseID(got.Kvs[0].Lease)
}

// S13, E9: leases that are renewed together share carriers, and from then on take two requests for each 120. A lost one harms no other.
func TestBatch(t *testing.T) {
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s, requests := counted(t, srv, nil)
	leases := many(t, s, 3*carrierTerms, time.Minute)
	renewAll(t, s, leases)
	requests.take()
	renewAll(t, s, leases)
	if got, want := requests.take(), map[string]int{"LeaseKeepAlive": 3, "Txn": 3}; !maps.Equal(got, want) {
		t.Errorf("%d renewals took the requests %v, want %v", len(leases), got, want)
	}
	must[*clientv3.DeleteResponse](t)(operator.Delete(deadline(t, ample), newNames(defaultPrefix).leader(leases[7].Election)))
	release(t, s, leases[9])
	for i, r := range backend.RenewAll(deadline(t, ample), s, leases) {
		want := backend.OK
		if i == 7 || i == 9 {
			want = backend.NotHeld
		}
		class(t, fmt.Sprint("renewal ", i), r.Err, want)
	}
	renewAll(t, s, leases[10:])
}

// A single renewal is a refresh and a read: it writes nothing, so that it also works on a server without space.
func TestRenewalWritesNothing(t *testing.T) {
	srv := testenv.Etcd(t)
	s, requests := counted(t, srv, nil)
	warm(t, s)
	l := acquire(t, s, claim("single", "a"))
	before := get(t, s, "single")
	rev := must[*clientv3.GetResponse](t)(raw(t, srv).Get(deadline(t, ample), "x")).Header.Revision
	requests.take()
	for range 5 {
		renew(t, s, l)
	}
	if got, want := requests.take(), map[string]int{"LeaseKeepAlive": 5, "Txn": 5}; !maps.Equal(got, want) {
		t.Errorf("5 renewals took the requests %v, want %v", got, want)
	}
	if now := must[*clientv3.GetResponse](t)(raw(t, srv).Get(deadline(t, ample), "x")).Header.Revision; now != rev {
		t.Errorf("the revision went from %d to %d, record %v", rev, now, before)
	}
}

// DX2: two terms share a carrier, one is no longer renewed. The other's renewals don't keep it alive: it ends a TTL after its own last one, and not before.
func TestSharedLiveness(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	leases := many(t, s, 3, 2*time.Second)
	renewAll(t, s, leases)
	last := time.Now()
	renewAll(t, s, leases)
	if a, b := bound(t, operator, leases[0].Election), bound(t, operator, leases[2].Election); a != b {
		t.Fatalf("the terms are on the etcd leases %x and %x, want one", a, b)
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	over := time.After(ample)
	for bound(t, operator, leases[0].Election) != -1 {
		select {
		case <-over:
			t.Fatalf("%s, which nobody renews, is kept alive", leases[0].Election)
		case <-tick.C:
			renewAll(t, s, leases[1:])
		}
	}
	lived := time.Since(last)
	t.Logf("ended %v after its last renewal", lived)
	if lived < leases[0].TTL-leases[0].TTL/500 {
		t.Errorf("ended %v after the start of its last renewal, want %v at least", lived, leases[0].TTL)
	}
	renewAll(t, s, leases[1:])
	_, err := s.Renew(deadline(t, ample), leases[0])
	class(t, "renewal of the one that has ended", err, backend.NotHeld)
}

// DX2: Close while a term's function may still run ends nothing that it needs.
func TestCloseLeavesTermsAlone(t *testing.T) {
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	leases := many(t, s, 3, time.Minute)
	renewAll(t, s, leases)
	release(t, s, leases[0])
	release(t, s, acquire(t, s, claim("another", "a"))) // its carrier is the spare now
	spare := inner(t, s).fleet.spares[60]
	if spare == nil {
		t.Fatal("there is no spare")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, l := range leases[1:] {
		if bound(t, operator, l.Election) <= 0 {
			t.Errorf("%s has gone with Close", l.Election)
		}
	}
	if got := must[*clientv3.LeaseTimeToLiveResponse](t)(operator.TimeToLive(deadline(t, ample), spare.id)); got.GrantedTTL != 0 {
		t.Errorf("the etcd lease kept for the next claim lives on: %+v", got)
	}
}

// EC41: 1,000 refused claims make no etcd lease at all, and 200 terms one after the other no more than one at a time.
func TestRefusedClaimsMakeNoLeases(t *testing.T) {
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	holder, s := client(t, srv.URL(), ""), client(t, srv.URL(), "")
	acquire(t, holder, claim("refused", "a"))
	count := func() int {
		return len(must[*clientv3.LeaseLeasesResponse](t)(operator.Leases(deadline(t, ample))).Leases)
	}
	for range 1000 {
		_, err := s.Acquire(deadline(t, ample), claim("refused", "b"))
		class(t, "claim of a held election", err, backend.Held)
	}
	if n := count(); n > 2 {
		t.Errorf("%d etcd leases after 1000 refused claims, want the holder's and one spare at most", n)
	}
	for range 200 {
		release(t, s, acquire(t, s, claim("again", "b")))
	}
	if n := count(); n > 2 {
		t.Errorf("%d etcd leases after 200 terms, want the holder's and one spare at most", n)
	}
}

// EC11, DX10: the grant's reply is lost, and nothing is heard any more: the call ends unknown. A repeat of the same attempt is the same term.
func TestLostReplyOfGrant(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	p, rawURL := through(t, srv)
	s, operator := client(t, rawURL, ""), raw(t, srv)
	warm(t, s)
	c := lostGrant(t, p, s, operator, "lost reply", time.Minute)
	p.Heal()
	l := acquire(t, s, c)
	if r := get(t, s, c.Election); l.Token != 1 || r.Counter != 1 || r.Attempt != c.Attempt {
		t.Errorf("token %d, record %+v: want one grant", l.Token, r)
	}
	renew(t, s, l)
	release(t, s, l)
}

// DX2: a grant of unknown outcome that was given up ends within a TTL, though the store goes on renewing others of the same TTL.
func TestGivenUpGrantEnds(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	p, rawURL := through(t, srv)
	s, operator := client(t, rawURL, ""), raw(t, srv)
	warm(t, s)
	c := lostGrant(t, p, s, operator, "given up", 4*time.Second)
	p.Heal()
	leases := many(t, s, 3, 4*time.Second)
	eventually(t, "the grant that was given up has ended", func() bool {
		renewAll(t, s, leases)
		return bound(t, operator, c.Election) == -1
	})
	class(t, "a later repeat", func() error { _, err := s.Acquire(deadline(t, ample), c); return err }(), backend.NotHeld)
}

// lostGrant makes a claim that is granted while the client hears nothing of it.
func lostGrant(t *testing.T, p interface {
	DropReplyTo(string)
	DropReplies()
}, s backend.LeaseStore, operator *clientv3.Client, election string, ttl time.Duration) backend.Claim {
	t.Helper()
	c := claim(election, "a")
	c.TTL = ttl
	seen, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := operator.Watch(seen, newNames(defaultPrefix).leader(election), clientv3.WithCreatedNotify())
	<-events
	p.DropReplyTo(c.Attempt.String())
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		_, err := s.Acquire(ctx, c)
		done <- err
	}()
	select {
	case <-events:
	case <-time.After(ample):
		t.Fatal("the claim didn't arrive")
	}
	p.DropReplies()
	class(t, "a claim without a reply", <-done, backend.Unknown)
	return c
}
