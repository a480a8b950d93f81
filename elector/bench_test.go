package elector

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
)

// BenchmarkLeading is the cost of asking "do I lead?": it compares clocks each time.
func BenchmarkLeading(b *testing.B) {
	e, err := New(config(memory.New(), "a"))
	if err != nil {
		b.Fatal(err)
	}
	term, err := e.Campaign(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	defer func() { _ = term.Resign(b.Context()) }()
	b.Run("leading", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !e.Leading() {
				b.Fatal("not leading")
			}
		}
	})
	b.Run("time.Now alone", func(b *testing.B) {
		for b.Loop() {
			_ = time.Now()
		}
	})
}

// BenchmarkIdle reports what an elector costs that only waits: one that follows, and one that leads.
func BenchmarkIdle(b *testing.B) {
	server := memory.NewServer()
	for _, kind := range []string{"follower", "leader"} {
		b.Run(kind, func(b *testing.B) {
			const n = 200
			var before, after runtime.MemStats
			goroutines := runtime.NumGoroutine()
			runtime.GC()
			runtime.ReadMemStats(&before)
			var all []*Elector
			for range n {
				cfg := config(server.Client(), "")
				cfg.Election, cfg.TTL = kind, time.Minute
				if kind == "leader" {
					cfg.Election += string(rune('a' + len(all)))
				}
				e, err := New(cfg)
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, e)
				ready := make(chan struct{})
				go func() {
					_ = e.Run(b.Context(), func(ctx context.Context, _ *Term) error { close(ready); <-ctx.Done(); return nil })
				}()
				if len(all) == 1 || kind == "leader" {
					<-ready
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			perElector := float64(runtime.NumGoroutine()-goroutines) / n
			heap := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / n
			for b.Loop() {
				runtime.Gosched()
			}
			b.ReportMetric(perElector, "goroutines/elector")
			b.ReportMetric(heap, "B/elector")
			for _, e := range all {
				_ = e.Close()
			}
		})
	}
}
