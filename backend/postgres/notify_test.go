package postgres

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// calls counts what a Notify's function is told.
type calls struct{ wakes, ends atomic.Int64 }

func (c *calls) wake(open bool) {
	if open {
		c.wakes.Add(1)
	} else {
		c.ends.Add(1)
	}
}

func notify(t *testing.T, s backend.LeaseStore, election string, wake func(bool)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(deadline(t, ample))
	defer cancel() // it bounds the call alone
	return must[func()](t)(inner(t, s).Notify(ctx, election, wake))
}

// S7 for functions: each change and each reconnect is told, the end by the store's close once, and after stop nothing.
func TestNotify(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, other, admin := client(t, srv.URL()), client(t, srv.URL()), raw(t, srv.URL())
	var kept, stopped calls
	notify(t, s, "e", kept.wake)
	stop := notify(t, s, "e", stopped.wake)
	changes := func(what string, change func()) {
		t.Helper()
		before := kept.wakes.Load()
		change()
		eventually(t, "a wake-up by "+what, func() bool { return kept.wakes.Load() > before })
	}
	var l backend.Lease
	changes("a grant", func() { l = acquire(t, other, claim("e", "a", time.Minute)) })
	changes("a release", func() { release(t, other, l) })
	changes("forgetting", func() {
		if err := inner(t, other).Forget(deadline(t, ample), get(t, other, "e")); err != nil {
			t.Fatal(err)
		}
	})
	changes("a reconnect", func() {
		exec(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN tenure_lease' OR query = ''")
	})
	stop()
	stop()
	told := stopped.wakes.Load()
	changes("a grant", func() { l = acquire(t, other, claim("e", "a", time.Minute)) })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := kept.ends.Load(); n != 1 {
		t.Errorf("the end was told %d times", n)
	}
	if stopped.wakes.Load() != told || stopped.ends.Load() != 0 {
		t.Error("a watch that was stopped is told more")
	}
	stop()
	_, err := inner(t, s).Notify(deadline(t, ample), "e", kept.wake)
	class(t, "notify after close", err, backend.Closed)
}

// Behind a pooler there are no wake-ups; the end is told.
func TestNotifyWithoutListen(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t)
	s := client(t, srv.URL(), "listen", "0")
	var c calls
	notify(t, s, "e", c.wake)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if c.wakes.Load() != 0 || c.ends.Load() != 1 {
		t.Errorf("%d wake-ups and %d ends", c.wakes.Load(), c.ends.Load())
	}
}

// Thousands of watches cost no goroutine each, and little memory.
func TestNotifyIsCheap(t *testing.T) {
	srv := testenv.Postgres(t)
	s := client(t, srv.URL())
	const watches = 5000
	var heard calls
	notify(t, s, "first", heard.wake)
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, goroutines := heap(), runtime.NumGoroutine()
	stops := make([]func(), watches)
	for i := range stops {
		stops[i] = notify(t, s, fmt.Sprint("election ", i), heard.wake)
	}
	each := (heap() - before) / watches
	t.Logf("%d bytes a watch", each)
	if more := runtime.NumGoroutine() - goroutines; more > 20 {
		t.Errorf("%d watches have %d goroutines more", watches, more)
	}
	if each > 2<<10 {
		t.Errorf("a watch takes %d bytes", each)
	}
	for _, stop := range stops {
		stop()
	}
	h := inner(t, s).hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.watchers); n != 1 {
		t.Errorf("%d topics are left", n)
	}
}
