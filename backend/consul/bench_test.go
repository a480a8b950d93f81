package consul

import (
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// BenchmarkBare is what server and client take for the smallest calls: the yardstick for BenchmarkStore.
func BenchmarkBare(b *testing.B) {
	srv := start(b)
	kv := inner(b, client(b, srv.URL(), "")).client.KV()
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := kv.Get("k", &api.QueryOptions{RequireConsistent: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cas", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			pair, _, err := kv.Get("k", nil)
			if err != nil {
				b.Fatal(err)
			}
			next := &api.KVPair{Key: "k", Value: []byte(time.Now().String())}
			if pair != nil {
				next.ModifyIndex = pair.ModifyIndex
			}
			b.StartTimer()
			if ok, _, err := kv.CAS(next, nil); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
}

// BenchmarkStore is a wrapped store, as electors use it.
func BenchmarkStore(b *testing.B) {
	srv := start(b)
	s := client(b, srv.URL(), "")
	release(b, s, acquire(b, s, claim("warm", "a")))
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			get(b, s, "e")
		}
	})
	b.Run("renew", func(b *testing.B) {
		l := acquire(b, s, claim("renew", "a"))
		for b.Loop() {
			l = renew(b, s, l)
		}
	})
	b.Run("renew64", func(b *testing.B) {
		leases := make([]backend.Lease, batch)
		for i := range leases {
			leases[i] = acquire(b, s, claim("renew64-"+string(rune('A'+i)), "a"))
		}
		for b.Loop() {
			for i, r := range backend.RenewAll(b.Context(), s, leases) {
				if r.Err != nil {
					b.Fatal(r.Err)
				}
				leases[i] = r.Lease
			}
		}
	})
	b.Run("refused", func(b *testing.B) {
		acquire(b, s, claim("refused", "a"))
		other := claim("refused", "b")
		for b.Loop() {
			if _, err := s.Acquire(b.Context(), other); err == nil {
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
