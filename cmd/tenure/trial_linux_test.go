package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A trial runs real tenure processes on a real Redis and breaks something. What must never happen is asserted strictly; times are reported, and asserted only against generous
// ceilings. A trial in which the machine itself stood still is repeated.
const (
	longestStall = 100 * time.Millisecond
	mostRepeats  = 10
	ceiling      = 2 * time.Second // beyond the TTL
)

// trials is how often each trial is run.
func trials(t testing.TB) int {
	text := os.Getenv("TENURE_TRIALS")
	switch {
	case text == "" && testing.Short():
		return 1
	case text == "":
		return 5
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("TENURE_TRIALS: %q is no number of trials", text)
	}
	return n
}

// many reports that there is time for trials that take minutes.
func many(t testing.TB) bool { return trials(t) >= 20 }

// trial is one run: what it measured and what it found wrong.
type trial struct {
	*testing.T
	election string
	figures  map[string]float64 // milliseconds
	problems []string
}

func (r *trial) figure(name string, d time.Duration) {
	r.figures[name] = float64(d) / float64(time.Millisecond)
}

func (r *trial) wrong(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// within reports a time and checks it against a ceiling.
func (r *trial) within(name string, d, most time.Duration) {
	r.figure(name, d)
	if d > most {
		r.wrong("%s: %v, but at most %v are allowed", name, d, most)
	}
}

// figures are those of all runs, by name.
type figures map[string][]float64

func (f figures) add(more map[string]float64) {
	for name, ms := range more {
		f[name] = append(f[name], ms)
	}
}

// log prints medians and extremes.
func (f figures) log(t testing.TB) {
	t.Helper()
	for _, name := range slices.Sorted(keys(f)) {
		ms := slices.Sorted(slices.Values(f[name]))
		note := ""
		if underRace {
			note = ", with the race detector"
		}
		t.Logf("%-48s median %8.1f ms, least %8.1f, most %8.1f  (%d runs%s)", name, median(ms), ms[0], ms[len(ms)-1], len(ms), note)
	}
}

func keys(f figures) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range f {
			if !yield(name) {
				return
			}
		}
	}
}

func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// repeat runs a trial as often as wanted, and again when the machine stalled.
func repeat(t *testing.T, n int, run func(*trial)) figures {
	t.Helper()
	all := figures{}
	for i := range n {
		for attempt := 1; ; attempt++ {
			r, stall := once(t, fmt.Sprintf("%d.%d", i+1, attempt), run)
			if stall <= longestStall {
				all.add(r.figures)
				break
			}
			t.Logf("run %d is repeated: the machine stalled for %v", i+1, stall)
			if attempt == mostRepeats {
				t.Fatalf("undecided: the machine stalled in %d runs in a row", attempt)
			}
		}
		if t.Failed() {
			break // its output is what counts now
		}
	}
	all.log(t)
	return all
}

// once runs a trial in a test of its own, so that its processes end with it.
func once(t *testing.T, name string, run func(*trial)) (r *trial, stall time.Duration) {
	t.Run(name, func(t *testing.T) {
		r = &trial{T: t, figures: map[string]float64{}, election: strings.ReplaceAll(t.Name(), "/", " ")}
		m := startMeter()
		defer func() {
			if stall = m.end(); stall > longestStall {
				return
			}
			for _, p := range r.problems {
				t.Error(p)
			}
		}()
		run(r)
	})
	return r, stall
}

// meter measures for how long the machine stood still: a tick that comes late is time in which nobody got to work.
type meter struct {
	stop    chan struct{}
	longest chan time.Duration
}

func startMeter() meter {
	m := meter{make(chan struct{}), make(chan time.Duration)}
	go m.run()
	return m
}

func (m meter) run() {
	const each = 10 * time.Millisecond
	tick := time.NewTicker(each)
	defer tick.Stop()
	var longest time.Duration
	for last := time.Now(); ; {
		select {
		case <-tick.C:
			now := time.Now()
			longest = max(longest, now.Sub(last)-each)
			last = now
		case <-m.stop:
			m.longest <- longest
			return
		}
	}
}

func (m meter) end() time.Duration {
	close(m.stop)
	return <-m.longest
}
