package elector

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Jobs run some at a time, one at a time while the lane gives way, all of them in the end; one that had to wait too long is told so.
func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane
		var busy, most, done, late atomic.Int64
		work := func(tooLate bool) {
			n := busy.Add(1)
			most.Store(max(most.Load(), n))
			if tooLate {
				late.Add(1)
			}
			pass(time.Second)
			busy.Add(-1)
			done.Add(1)
		}
		for range 3 * abreast {
			l.do(time.Minute, work)
		}
		pass(time.Second / 2)
		if busy.Load() != abreast {
			t.Errorf("%d jobs at a time", busy.Load())
		}
		l.giveWay(1)
		pass(time.Second)
		most.Store(0)
		pass(5 * time.Second)
		if most.Load() != 1 || done.Load() != abreast+5 {
			t.Errorf("%d at a time while it gives way, %d done", most.Load(), done.Load())
		}
		l.giveWay(-1)
		pass(time.Second / 10)
		if busy.Load() != abreast {
			t.Errorf("%d at a time afterwards", busy.Load())
		}
		pass(10 * time.Second)
		if done.Load() != 3*abreast || late.Load() != 0 {
			t.Errorf("%d done, %d late", done.Load(), late.Load())
		}
		for range 2 * abreast {
			l.do(time.Second/2, work)
		}
		pass(time.Minute)
		l.mu.Lock()
		defer l.mu.Unlock()
		if late.Load() != abreast || l.busy != 0 {
			t.Errorf("%d late, %d busy", late.Load(), l.busy)
		}
	})
}
