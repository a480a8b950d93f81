package main

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// stall is a time in which the machine did not let this process run, on the boot clock.
type stall struct{ from, until time.Duration }

func (s stall) length() time.Duration { return s.until - s.from }

// watchStalls ticks each 10 ms until ctx ends, and returns when a tick came more than 100 ms after the one before.
func watchStalls(ctx context.Context) (stalls []stall) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	last := bootTime()
	for {
		select {
		case <-ctx.Done():
			return stalls
		case <-tick.C:
		}
		now := bootTime()
		if now-last > 100*time.Millisecond {
			stalls = append(stalls, stall{last, now})
		}
		last = now
	}
}

func bootTime() time.Duration {
	now, _ := clock.Boot()
	return time.Duration(now)
}
