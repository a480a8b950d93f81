package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// oscillator is a clock that runs at a rate of its own. It counts in whole numbers, so that a run is the same on every machine.
type oscillator struct {
	since, reading int64 // at true time since it read reading
	ppm            int64 // and has run faster than true time by this since
}

const million = 1_000_000

func (o *oscillator) at(t int64) int64 {
	d := t - o.since
	return o.reading + d + d/million*o.ppm + d%million*o.ppm/million
}

// turn changes the rate from t on.
func (o *oscillator) turn(t, ppm int64) { *o = oscillator{t, o.at(t), ppm} }

// lasts is the true time that it takes the clock to run for d.
func (o *oscillator) lasts(d int64) int64 {
	d = min(d, int64(time.Hour))
	return d/(million+o.ppm)*million + d%(million+o.ppm)*million/(million+o.ppm)
}

// clocks are those of one process.
type clocks struct {
	w         *run
	osc       oscillator // the boot clock
	skipped   int64      // suspended so far, which the monotonic clock doesn't count
	suspended int64      // the monotonic clock's reading while suspended, else -1
	wall      int64      // the wall clock is ahead of the boot clock by this
	bootless  bool       // there is no boot clock
	strobe    int64      // the wall clock is set to and fro by this
	every     int64      // so often
	source    clock.Source
}

func (c *clocks) start(w *run, ppm int64) {
	c.w = w
	c.osc = oscillator{since: w.now, reading: int64(time.Hour), ppm: ppm}
	c.suspended, c.wall = -1, epoch
	c.source = clock.Source{
		Sample: func() (int64, int64) { r := c.read(); return r.Mono, r.Wall },
		Boot:   func() (int64, bool) { r := c.read(); return r.Boot, r.HasBoot },
	}
}

// epoch is the wall clock's reading at the beginning of a run, in nanoseconds.
const epoch = 1_790_000_000_000_000_000

func (c *clocks) read() clock.Reading {
	local := c.osc.at(c.w.now)
	r := clock.Reading{Mono: local - c.skipped, Wall: local + c.wall}
	if c.suspended >= 0 {
		r.Mono = c.suspended
	}
	if c.strobe != 0 && local/c.every%2 == 1 {
		r.Wall += c.strobe
	}
	if !c.bootless {
		r.Boot, r.HasBoot = local, true
	}
	return r
}

func (c *clocks) suspend() {
	if c.suspended < 0 {
		c.suspended = c.read().Mono
	}
}

func (c *clocks) resume() {
	if c.suspended >= 0 {
		c.skipped = c.osc.at(c.w.now) - c.suspended
		c.suspended = -1
	}
}
