package redis

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

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
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s, other := client(t, srv.URL(), ""), client(t, srv.URL(), "")
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
	changes("a grant", func() { l = acquire(t, other, claim("e", "a")) })
	changes("a release", func() { release(t, other, l) })
	changes("forgetting", func() {
		if err := inner(t, other).Forget(deadline(t, ample), get(t, other, "e")); err != nil {
			t.Fatal(err)
		}
	})
	changes("a reconnect", func() { srv.Kill(); srv.Start() })
	stop()
	stop()
	told := stopped.wakes.Load()
	changes("a grant", func() { l = acquire(t, other, claim("e", "a")) })
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

// stop is a barrier: no call is under way, nor comes, once it has returned, also beside a storm of wake-ups.
func TestStopIsABarrier(t *testing.T) {
	srv := testenv.Redis(t)
	s := client(t, srv.URL(), "")
	server := raw(t, srv.URL())
	ctx, cancel := context.WithCancel(t.Context())
	var storm sync.WaitGroup
	storm.Go(func() {
		for ctx.Err() == nil {
			server.Publish(ctx, inner(t, s).names.channel("e"), "x")
		}
	})
	for range 200 {
		var over atomic.Bool
		woken := make(chan struct{}, 1)
		stop := notify(t, s, "e", func(bool) {
			runtime.Gosched()
			if over.Load() {
				t.Error("a call after stop")
			}
			select {
			case woken <- struct{}{}:
			default:
			}
		})
		<-woken
		stop()
		over.Store(true)
	}
	cancel()
	storm.Wait()
}

// Thousands of watches cost no goroutine each, and little memory.
func TestNotifyIsCheap(t *testing.T) {
	srv := testenv.Redis(t)
	s := client(t, srv.URL(), "")
	const watches = 2000
	var heard calls
	notify(t, s, "first", heard.wake)
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
	eventually(t, "the server is told", func() bool {
		h := inner(t, s).watch
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.topics) == 1
	})
}

// heap is what lives on the heap.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
