package sqlite

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/record"
)

// hostClock is the clock by which leases expire: the host's boot clock, which all its processes share, which counts suspend and never steps.
type hostClock struct {
	boot string // names the clock: times of a row under another name can't be compared with ours
	wall bool   // there is no boot clock
}

func newHostClock() hostClock {
	if _, ok := clock.Boot(); ok {
		if id := bootID(); id != "" {
			return hostClock{boot: id}
		}
	}
	return hostClock{boot: "wall", wall: true}
}

func (h hostClock) now() record.Clock {
	wall := time.Now()
	c := record.Clock{Now: wall.UnixNano(), Wall: wall, Bound: wall.UnixMicro()}
	if !h.wall {
		c.Now, _ = clock.Boot() // it was there when the store was opened; a zero would let no lease expire
	}
	return c
}
