package etcd

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// BenchmarkBare is what the server and the driver take for the smallest calls: the yardstick for BenchmarkStore.
func BenchmarkBare(b *testing.B) {
	srv := testenv.Etcd(b)
	ctx := b.Context()
	s := client(b, srv.URL(), "")
	warm(b, s)
	c := inner(b, s).client
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			_, _ = c.Get(ctx, "k")
		}
	})
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			_, _ = c.Put(ctx, "k", "v")
		}
	})
	b.Run("txn", func(b *testing.B) {
		for b.Loop() {
			_, _ = c.Txn(ctx).If(clientv3.Compare(clientv3.Version("none"), "=", 0)).Then(clientv3.OpPut("k", "v"), clientv3.OpPut("l", "v")).Commit()
		}
	})
	b.Run("keepalive", func(b *testing.B) {
		l := must[*clientv3.LeaseGrantResponse](b)(c.Grant(ctx, 60))
		for b.Loop() {
			_, _ = c.KeepAliveOnce(ctx, l.ID)
		}
	})
}

// BenchmarkStore is a wrapped store, as electors use it.
func BenchmarkStore(b *testing.B) {
	srv := testenv.Etcd(b)
	ctx := b.Context()
	s := client(b, srv.URL(), "")
	warm(b, s)
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			get(b, s, "e")
		}
	})
	b.Run("renew", func(b *testing.B) {
		l := acquire(b, s, claim("renew", "a"))
		for b.Loop() {
			renew(b, s, l)
		}
	})
	b.Run("renew1000", func(b *testing.B) {
		leases := many(b, s, 1000, time.Hour)
		renewAll(b, s, leases)
		for b.Loop() {
			renewAll(b, s, leases)
		}
	})
	b.Run("refused", func(b *testing.B) {
		acquire(b, s, claim("refused", "a"))
		other := claim("refused", "b")
		for b.Loop() {
			if _, err := s.Acquire(ctx, other); err == nil {
				b.Fatal("granted twice")
			}
		}
	})
	b.Run("acquire", func(b *testing.B) {
		var took time.Duration
		for b.Loop() {
			began := time.Now()
			l := acquire(b, s, claim("acquire", "a"))
			took += time.Since(began)
			release(b, s, l)
		}
		b.ReportMetric(float64(took)/float64(b.N), "ns/acquire")
	})
	b.Run("handover", func(b *testing.B) { benchHandover(b, s, client(b, srv.URL(), "")) })
}

// benchHandover measures from the release to the next grant, with the wake-up between.
func benchHandover(b *testing.B, s, follower backend.LeaseStore) {
	wake := watching(b, follower, "handover")
	drain := func() {
		for len(wake) > 0 {
			<-wake
		}
	}
	var took time.Duration
	for b.Loop() {
		l := acquire(b, s, claim("handover", "a"))
		woken(b, "a grant", wake)
		drain()
		began := time.Now()
		release(b, s, l)
		woken(b, "a release", wake)
		next := acquire(b, follower, claim("handover", "b"))
		took += time.Since(began)
		woken(b, "a grant", wake)
		release(b, follower, next)
		woken(b, "a release", wake)
		drain()
	}
	b.ReportMetric(float64(took)/float64(b.N), "ns/handover")
}
