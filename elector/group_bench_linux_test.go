package elector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/consul"
	_ "github.com/tenure-go/tenure/backend/etcd"
	_ "github.com/tenure-go/tenure/backend/postgres"
	_ "github.com/tenure-go/tenure/backend/redis"
	"github.com/tenure-go/tenure/internal/testenv"
)

// BenchmarkGroup is what it costs one process to lead many elections on a real server, in steady state: TENURE_ELECTIONS of them, 10,000 if it isn't set, for TENURE_STEADY, one minute if it isn't set.
//
//	go test -run ^$ -bench Group -benchtime 1x -timeout 60m ./elector
func BenchmarkGroup(b *testing.B) {
	n := 10_000
	if s := os.Getenv("TENURE_ELECTIONS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	steady := time.Minute
	if s := os.Getenv("TENURE_STEADY"); s != "" {
		steady, _ = time.ParseDuration(s)
	}
	for name, server := range map[string]func(testing.TB, ...testenv.Options) *testenv.Server{
		"redis": testenv.Redis, "postgres": testenv.Postgres, "etcd": testenv.Etcd, "consul": testenv.Consul,
	} {
		b.Run(name, func(b *testing.B) {
			srv := server(b, testenv.Options{Own: true})
			for b.Loop() {
				leadMany(b, srv, n, steady)
			}
		})
	}
}

func leadMany(b *testing.B, srv *testenv.Server, n int, steady time.Duration) {
	b.Helper()
	store, err := backend.Open(b.Context(), srv.URL())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	before := measure()
	cfg := groupConfig(store, "a", names(n)...)
	g, err := NewGroup(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	result := make(chan error, 1)
	began := time.Now()
	go func() { result <- g.Run(ctx, nil) }()
	for len(g.terms()) < n {
		pass(50 * time.Millisecond)
	}
	setUp := time.Since(began)
	pass(2 * ttl)
	cfg.Elections = nil
	led := measure()
	first := map[*Term]bool{}
	for _, t := range g.terms() {
		first[t] = true
	}
	requests := srv.Requests(b)
	pass(steady)
	requests = srv.Requests(b) - requests
	cpu := measure().cpu - led.cpu
	if held := g.terms(); len(held) < n || slices.ContainsFunc(held, func(t *Term) bool { return !first[t] }) {
		b.Errorf("%d of %d are led, under terms that aren't the first", len(held), n)
	}
	b.ReportMetric(setUp.Seconds(), "s-set-up")
	b.ReportMetric(float64(led.goroutines), "goroutines")
	b.ReportMetric(float64(led.heap-before.heap)/float64(n), "B/election")
	b.ReportMetric(float64(led.rss-before.rss)/(1<<20), "MiB-RSS")
	b.ReportMetric(float64(requests)/steady.Seconds(), "requests/s")
	b.ReportMetric(float64(requests)/steady.Seconds()*cfg.TTL.Seconds()/3, "requests/beat")
	b.ReportMetric(cpu.Seconds()*60/steady.Seconds(), "cpu-s/min")
	b.ReportMetric(0, "ns/op")
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		b.Error(err)
	}
	_ = g.Close()
}

// figures are what a process takes up.
type figures struct {
	heap       int64
	rss        int64
	goroutines int
	cpu        time.Duration
}

func measure() (f figures) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.heap, f.goroutines = int64(m.HeapAlloc), runtime.NumGoroutine()
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		f.cpu = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, _ = fmt.Sscan(rest, &f.rss)
			f.rss <<= 10
		}
	}
	return f
}
