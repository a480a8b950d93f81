package redis

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testenv"
)

// S7 for functions: each change and each reconnect is told, the end by the store's close once, and after stop nothing.
func TestNotify(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s, other := client(t, srv.URL(), ""), client(t, srv.URL(), "")
	var l backend.Lease
	grant := storetest.Change{What: "a grant", Do: func() { l = acquire(t, other, claim("e", "a")) }}
	kit.Notified(t, inner(t, s), "e", grant,
		grant,
		storetest.Change{What: "a release", Do: func() { release(t, other, l) }},
		storetest.Change{What: "forgetting", Do: func() { kit.Forget(t, inner(t, other), "e") }},
		storetest.Change{What: "a reconnect", Do: func() { srv.Kill(); srv.Start() }},
	)
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
		stop := kit.Notify(t, inner(t, s), "e", func(bool) {
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
	stop, goroutines, each := kit.Watches(t, inner(t, s), watches)
	if goroutines > 20 {
		t.Errorf("%d watches have %d goroutines more", watches, goroutines)
	}
	if each > 2<<10 {
		t.Errorf("a watch takes %d bytes", each)
	}
	stop()
	eventually(t, "the server is told", func() bool {
		h := inner(t, s).watch
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.topics) == 1
	})
}
