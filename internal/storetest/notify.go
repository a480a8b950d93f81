package storetest

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/tenure-go/tenure/backend"
)

// Calls counts what the function of a watch is told.
type Calls struct {
	wakes, ends atomic.Int64
	over        atomic.Bool // the last call told the end
}

// Wake is a function for Notify.
func (c *Calls) Wake(open bool) { //nolint:revive // what a watch tells, no choice
	c.over.Store(!open)
	if open {
		c.wakes.Add(1)
	} else {
		c.ends.Add(1)
	}
}

// Told is how often changes and the end were told.
func (c *Calls) Told() (wakes, ends int64) { return c.wakes.Load(), c.ends.Load() }

// Notify watches an election with a function. The context of the call ends with it.
func (k Kit) Notify(t testing.TB, s backend.LeaseStore, election string, wake func(open bool)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(Deadline(t, k.Ample))
	defer cancel()
	return Must[func()](t)(Inner[backend.Notifier](t, s).Notify(ctx, election, wake))
}

// Change is something of which a watch is to be told.
type Change struct {
	What  string
	Ready func() // nil, or what goes before: wake-ups by it don't count
	Do    func()
}

// Notified lets changes of an election happen and fails the test unless a watch of s with a function is told of each; if a watch that was stopped hears more, the last change included; and unless the end by
// the store's Close is told, once and last. It closes s.
func (k Kit) Notified(t testing.TB, s backend.LeaseStore, election string, last Change, changes ...Change) {
	t.Helper()
	var kept, stopped Calls
	k.Notify(t, s, election, kept.Wake)
	stop := k.Notify(t, s, election, stopped.Wake)
	happens := func(c Change, heard ...*Calls) {
		t.Helper()
		if c.Ready != nil {
			c.Ready()
		}
		before := make([]int64, len(heard))
		for i, h := range heard {
			before[i] = h.wakes.Load()
		}
		c.Do()
		for i, h := range heard {
			k.Eventually(t, "a wake-up by "+c.What, func() bool { return h.wakes.Load() > before[i] })
		}
	}
	for _, c := range changes {
		happens(c, &kept, &stopped)
	}
	stop()
	stop()
	told := stopped.wakes.Load()
	happens(last, &kept)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := kept.ends.Load(); n != 1 || !kept.over.Load() {
		t.Errorf("the end was told %d times, as the last call: %v", n, kept.over.Load())
	}
	stop()
	if stopped.wakes.Load() != told || stopped.ends.Load() != 0 {
		t.Error("a watch that was stopped is told more")
	}
	_, err := Inner[backend.Notifier](t, s).Notify(Deadline(t, k.Ample), election, kept.Wake)
	Class(t, "a watch of a closed store", err, backend.Closed)
}

// Watches opens n watches, each of another election, and tells what they cost.
func (k Kit) Watches(t testing.TB, s backend.LeaseStore, n int) (stop func(), goroutines int, bytesEach int64) {
	t.Helper()
	var heard Calls
	k.Notify(t, s, "first", heard.Wake) // it brings what all of them share
	before := heap()
	running := runtime.NumGoroutine()
	stops := make([]func(), n)
	for i := range stops {
		stops[i] = k.Notify(t, s, fmt.Sprint("election ", i), heard.Wake)
	}
	bytesEach = (heap() - before) / int64(n)
	t.Logf("%d bytes a watch", bytesEach)
	return func() {
		for _, stop := range stops {
			stop()
		}
	}, runtime.NumGoroutine() - running, bytesEach
}

// heap is what lives on the heap.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
