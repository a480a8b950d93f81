package consul

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tenure-go/tenure/backend"
)

// many acquires n elections.
func many(t *testing.T, s backend.LeaseStore, n int) []backend.Lease {
	t.Helper()
	leases := make([]backend.Lease, n)
	each(n, func(i int) {
		l, err := s.Acquire(deadline(t, ample), claim(fmt.Sprintf("e%03d", i), "P"))
		if err != nil {
			t.Error(err)
		}
		leases[i] = l
	})
	return leases
}

// S13: a batch renews what lives and tells what doesn't; the lost ones harm nobody.
func TestBatch(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	s, q := over(t, rawVia(t, srv, g), "batch"), client(t, srv.URL(), "prefix=batch")
	leases := many(t, s, batch+10)
	stale := leases[7]
	renew(t, q, leases[7]) // by another client: this one's memory is out of date
	release(t, q, leases[3])
	release(t, q, leases[batch+2])
	acquire(t, q, claim(leases[batch+2].Election, "Q"))
	leases[5].Opaque = nil
	foreign := leases[9]
	foreign.Token++
	leases[9] = foreign
	renewals := backend.RenewAll(deadline(t, ample), s, leases)
	for i, r := range renewals {
		want := backend.OK
		if i == 3 || i == 9 || i == batch+2 {
			want = backend.NotHeld
		}
		class(t, fmt.Sprintf("lease %d of a batch", i), r.Err, want)
		if r.Err == nil && (r.Lease.Election != leases[i].Election || r.Lease.Token != leases[i].Token || r.Lease.TTL != leases[i].TTL || r.Lease.AnchorAge != 0) {
			t.Errorf("lease %d was renewed as %+v, want %+v", i, r.Lease, leases[i])
		}
		if r.Err == nil {
			if rec := get(t, q, leases[i].Election); rec.Renewals < 1 {
				t.Errorf("lease %d: the record tells no renewal: %+v", i, rec)
			}
		}
		leases[i] = r.Lease
	}
	if stale.Opaque == renewals[7].Lease.Opaque {
		t.Error("the lease that another client has renewed was not renewed")
	}
}

// E9: renewals of up to 64 elections are one request.
func TestABatchIsOneRequest(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	s := over(t, rawVia(t, srv, g), "one")
	leases := many(t, s, batch)
	for range 3 {
		g.requests()
		for i, r := range backend.RenewAll(deadline(t, ample), s, leases) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			leases[i] = r.Lease
		}
		if n, paths := g.requests(); n != 1 {
			t.Errorf("renewal of %d leases took %d requests: %v", batch, n, paths)
		}
	}
	g.requests()
	if l := renew(t, s, leases[0]); l.Token != leases[0].Token {
		t.Error(l)
	}
	if n, paths := g.requests(); n != 1 {
		t.Errorf("renewal of one lease took %d requests: %v", n, paths)
	}
}

// An outcome that is unknown stands in every renewal, and the next batch goes on from what the servers have.
func TestABatchWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	s := over(t, rawVia(t, srv, g), "unanswered")
	leases := many(t, s, 20)
	g.fail(500)
	for _, r := range backend.RenewAll(deadline(t, ample), s, leases) {
		class(t, "renewal without a server", r.Err, backend.Unknown)
	}
	g.fail(0)
	for _, r := range backend.RenewAll(deadline(t, ample), s, leases) { // applied, say, and the reply lost
		class(t, "renewal", r.Err, backend.OK)
	}
	for _, r := range backend.RenewAll(deadline(t, ample), s, leases) {
		class(t, "renewal by the leases from before", r.Err, backend.OK)
	}
}

// S13: where the server refuses a batch because of some leases, the others take one request more, and where all have changed since (a reply was lost, the session was), few more: none waits for
// the others one by one.
func TestWhatABatchCosts(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	s, q, operator := over(t, rawVia(t, srv, g), "cost"), client(t, srv.URL(), "prefix=cost"), raw(t, srv)
	leases := many(t, s, batch)
	again := func(what string, most int, lost ...int) {
		t.Helper()
		g.requests()
		for i, r := range backend.RenewAll(deadline(t, ample), s, leases) {
			want := backend.OK
			if slices.Contains(lost, i) {
				want = backend.NotHeld
			} else {
				leases[i] = r.Lease
			}
			class(t, fmt.Sprintf("%s: lease %d", what, i), r.Err, want)
		}
		n, paths := g.requests()
		t.Logf("%s: %v", what, paths)
		if n > most {
			t.Errorf("%s took %d requests, want at most %d: %v", what, n, most, paths)
		}
	}
	before := slices.Clone(leases)
	again("all is well", 2) // and the first look at the agent
	leases = before
	again("the reply was lost", 1+2*2)
	id, _ := inner(t, s).session.current()
	if _, err := operator.Session().Destroy(id, nil); err != nil {
		t.Fatal(err)
	}
	again("the session was lost", 1+1+2*2*2)
	var lost []int
	for i := 3; i < batch; i += 6 {
		release(t, q, leases[i])
		acquire(t, q, claim(leases[i].Election, "Q"))
		lost = append(lost, i)
	}
	again(fmt.Sprintf("%d were lost", len(lost)), 3, lost...)
}
