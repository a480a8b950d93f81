package redis

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// BenchmarkBare is what the server and the driver take for the smallest calls: the yardstick for BenchmarkStore.
func BenchmarkBare(b *testing.B) {
	srv := testenv.Redis(b)
	ctx := b.Context()
	s := client(b, srv.URL(), "")
	c := inner(b, s).client
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			_ = c.Get(ctx, "k").Err()
		}
	})
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			_ = c.Set(ctx, "k", "v", 0).Err()
		}
	})
}

// BenchmarkStore is a wrapped store, as electors use it.
func BenchmarkStore(b *testing.B) {
	srv := testenv.Redis(b)
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
	b.Run("batch", func(b *testing.B) {
		all := leases(b, s, batch)
		for b.Loop() {
			for _, r := range backend.RenewAll(ctx, s, all) {
				if r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed())/float64(b.N*batch), "ns/lease")
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
	b.Run("release", func(b *testing.B) {
		var took time.Duration
		for b.Loop() {
			l := acquire(b, s, claim("release", "a"))
			began := time.Now()
			release(b, s, l)
			took += time.Since(began)
		}
		b.ReportMetric(float64(took)/float64(b.N), "ns/release")
	})
	b.Run("handover", func(b *testing.B) { // from the release to the next grant, with the wake-up between
		follower := client(b, srv.URL(), "")
		wake, err := follower.Watch(b.Context(), "handover")
		if err != nil {
			b.Fatal(err)
		}
		var took time.Duration
		for b.Loop() {
			l := acquire(b, s, claim("handover", "a"))
			<-wake
			began := time.Now()
			release(b, s, l)
			<-wake
			next := acquire(b, follower, claim("handover", "b"))
			took += time.Since(began)
			<-wake
			release(b, follower, next)
			<-wake
		}
		b.ReportMetric(float64(took)/float64(b.N), "ns/handover")
	})
}
