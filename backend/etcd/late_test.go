package etcd

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// EC3, EC10, EC11, DX10: transactions that were sent on the ground of what was read arrive after something has changed. None of them is applied.
func TestLateTransactionsFail(t *testing.T) {
	srv := testenv.Etcd(t)
	s := inner(t, client(t, srv.URL(), ""))
	ctx := deadline(t, ample)
	late := func(what string, v view, then []clientv3.Op) {
		t.Helper()
		if rev, err := s.commit(ctx, v, then); rev != 0 || err != nil {
			t.Errorf("%s that came late: revision %d, %v; want it refused", what, rev, err)
		}
	}
	free := must[view](t)(s.read(ctx, "e"))
	stray := must[*carrier](t)(s.fresh(ctx, 60))
	grant := []clientv3.Op{clientv3.OpPut(s.names.leader("e"), "1.00", clientv3.WithLease(stray.id))}
	first := acquire(t, s, claim("e", "a"))
	late("a grant, while another holds,", free, grant)
	held := must[view](t)(s.read(ctx, "e"))
	release(t, s, first)
	late("a grant, after another's term,", free, grant)
	second := acquire(t, s, claim("e", "a"))
	late("a release of an earlier term", held, s.releasing(held, backend.Handover{}, 0))
	late("a move of an earlier term", held, grant)
	held = must[view](t)(s.read(ctx, "e"))
	if err := s.Raise(ctx, "e", 50); err != nil {
		t.Fatal(err)
	}
	late("a release that would set the counter back", held, s.releasing(held, backend.Handover{}, 0))
	if err := s.Release(ctx, second, backend.Handover{To: "b", For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	reserved := must[view](t)(s.read(ctx, "e"))
	third := acquire(t, s, claim("e", "b"))
	late("a grant, after the reservation was used,", reserved, grant)
	renew(t, s, third)
	// Nothing revives a term that has ended.
	held = must[view](t)(s.read(ctx, "e"))
	again := []clientv3.Op{clientv3.OpPut(s.names.leader("e"), held.leader, clientv3.WithLease(stray.id))}
	must[*clientv3.LeaseRevokeResponse](t)(s.lease.Revoke(ctx, held.leaderLease))
	late("a repeat of a claim, after the end of its term,", held, again)
	// A grant on an etcd lease that has ended makes no leader.
	must[*clientv3.LeaseRevokeResponse](t)(s.lease.Revoke(ctx, stray.id))
	if _, err := s.commit(ctx, must[view](t)(s.read(ctx, "e")), grant); !notFound(err) {
		t.Errorf("a grant on an etcd lease that has ended: %v", err)
	}
}

// A move to another carrier is sent, nothing is heard of it, and it arrives after the next renewal. It must not take the term to an etcd lease that is older than that renewal.
func TestLateMoveKeepsTheWholeTTL(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	var left atomic.Int64 // transactions that still pass
	left.Store(1 << 40)
	s, _ := counted(t, srv, func(method string) error {
		if strings.HasSuffix(method, "/Txn") && left.Add(-1) < 0 {
			return status.Error(codes.Unavailable, "lost")
		}
		return nil
	})
	leases := many(t, s, 2, time.Minute)
	left.Store(1) // the look at the keys passes, the move doesn't
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	lost := backend.RenewAll(ctx, s, leases)
	left.Store(1 << 40)
	var lease backend.Lease
	var key string
	var rev int64
	on := map[clientv3.LeaseID]bool{}
	fleet := inner(t, s).fleet
	fleet.mu.Lock()
	for i, r := range lost {
		if term := fleet.terms[keyOf(leases[i])]; r.Err != nil && term.pending != 0 {
			lease = leases[i]
			key, rev = newNames(defaultPrefix).leader(leases[i].Election), term.pending
			for _, c := range term.on {
				on[c.id] = true
			}
		}
	}
	fleet.mu.Unlock()
	if rev == 0 || len(on) != 2 {
		t.Fatalf("no move was lost: %+v, on %v", lost, on)
	}
	value := must[*clientv3.GetResponse](t)(operator.Get(deadline(t, ample), key)).Kvs[0]
	delete(on, clientv3.LeaseID(value.Lease))
	until(t, 4*time.Second)
	renewed := time.Now()
	renew(t, s, lease) // alone, so that the other carrier isn't refreshed
	for other := range on {
		must[*clientv3.TxnResponse](t)(operator.Txn(deadline(t, ample)).If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).
			Then(clientv3.OpPut(key, string(value.Value), clientv3.WithLease(other))).Commit())
	}
	now := must[*clientv3.GetResponse](t)(operator.Get(deadline(t, ample), key)).Kvs[0]
	got := must[*clientv3.LeaseTimeToLiveResponse](t)(operator.TimeToLive(deadline(t, ample), clientv3.LeaseID(now.Lease)))
	if least := time.Minute - time.Since(renewed) - 1500*time.Millisecond; seconds(got.TTL) < least {
		t.Errorf("%v after its renewal the term has %v left, want %v at least", time.Since(renewed), seconds(got.TTL), least)
	}
}
