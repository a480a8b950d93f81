package consul

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// calls is what a watch's function was told.
type calls chan bool

func (c calls) wake(open bool) { c <- open }

// next waits for the next call.
func (c calls) next(t *testing.T, what string, want bool) {
	t.Helper()
	select {
	case open := <-c:
		if open != want {
			t.Fatalf("%s: wake(%v), want wake(%v)", what, open, want)
		}
	case <-time.After(ample):
		t.Fatalf("%s: no call", what)
	}
}

// A watch with a function outlives the call's context, hears of each change and of a reconnect, ends silently by stop, and with one last call by the store's Close.
func TestNotify(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, rawURL := through(t, srv)
	s, other := client(t, rawURL, "prefix=notify"), client(t, srv.URL(), "prefix=notify")
	ctx, cancel := context.WithTimeout(t.Context(), ample)
	stopped, closed := make(calls, 1000), make(calls, 1000)
	stop := must[func()](t)(backend.Notify(ctx, s, "notify", stopped.wake))
	must[func()](t)(backend.Notify(ctx, s, "notify", closed.wake))
	cancel()
	l := acquire(t, other, claim("notify", "a"))
	stopped.next(t, "a grant", true)
	release(t, other, l)
	stopped.next(t, "a release", true)
	p.Down()
	<-time.After(300 * time.Millisecond) // its query fails meanwhile
	for len(stopped) > 0 {
		<-stopped
	}
	p.Heal()
	stopped.next(t, "a reconnect", true)
	stop()
	stop()
	heard := len(stopped)
	for len(closed) > 0 {
		<-closed
	}
	release(t, other, acquire(t, other, claim("notify", "a")))
	closed.next(t, "a change after another watch was stopped", true)
	if len(stopped) != heard {
		t.Error("called after stop had returned")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	last := true
	for len(closed) > 0 {
		last = <-closed
	}
	if last {
		t.Error("Close was followed by no last call")
	}
	stop()
	if len(stopped) != heard {
		t.Error("called after stop had returned, by Close")
	}
	for len(stopped) > 0 {
		if !<-stopped {
			t.Error("stop was followed by a last call")
		}
	}
	_, err := backend.Notify(deadline(t, ample), s, "notify", stopped.wake)
	class(t, "a watch of a closed store", err, backend.Closed)
}

// Many watches take no goroutine and few bytes each.
func TestManyNotifies(t *testing.T) {
	s := inner(t, client(t, start(t).URL(), "prefix=many"))
	stops, ctx := make([]func(), 0, 10_000), deadline(t, ample)
	add := func(n int) {
		for range n {
			stops = append(stops, must[func()](t)(s.Notify(ctx, fmt.Sprintf("many/%d", len(stops)), func(bool) {})))
		}
	}
	add(100)
	goroutines, before := runtime.NumGoroutine(), heap()
	add(5000)
	bytes := (heap() - before) / 5000
	t.Logf("%d bytes per watch", bytes)
	if more := runtime.NumGoroutine() - goroutines; more > 100 || bytes > 4096 {
		t.Errorf("5000 watches take %d goroutines and %d bytes each", more, bytes)
	}
	for _, stop := range stops {
		stop()
	}
	if n := len(s.watch.watchers); n != 0 {
		t.Errorf("%d elections are watched after all watches were stopped", n)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
