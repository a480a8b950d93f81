package main

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/internal/worklog"
)

// maxGap is how long nobody may be at work between two terms, and minTerms how many there must be.
const (
	maxGap   = ttl + time.Second
	minTerms = 3
)

// verdict is what the work log shows.
type verdict struct {
	worklog.Report
	missing []string // what should have happened
	gaps    []gap    // those that are too long
	stalls  []stall
	names   map[int]string // of processes
}

// gap is a time in which nobody was at work, on the boot clock.
type gap struct{ from, until time.Duration }

// judge reads a work log, and nothing else.
func judge(path string) (verdict, error) {
	lines, err := worklog.Read(path)
	if err != nil {
		return verdict{}, err
	}
	return check(lines), nil
}

// check asks more than a work log in general: no long gap, enough terms, and a successor both after a kill and after a hand-over.
func check(lines []worklog.Line) verdict {
	v := verdict{Report: worklog.Check(lines)}
	var takeOver, handOver bool
	for i := range v.Gaps() {
		takeOver = takeOver || !v.Shifts[i].Stopped
		handOver = handOver || v.Shifts[i].Stopped
	}
	for i := 1; i < len(lines); i++ { // also within a term: a leader that does nothing leads nothing
		if from, until := lines[i-1].At, lines[i].At; until-from > maxGap {
			v.gaps = append(v.gaps, gap{from, until})
		}
	}
	if n := len(v.Shifts); n < minTerms {
		v.missing = append(v.missing, fmt.Sprintf("too few terms: %d, at least %d are expected", n, minTerms))
	}
	if !takeOver {
		v.missing = append(v.missing, "no take-over: nobody worked after one that was killed at work")
	}
	if !handOver {
		v.missing = append(v.missing, "no hand-over: nobody worked after one that stopped by itself")
	}
	return v
}

// spoiled reports that nothing is wrong but gaps, and that the machine stalled in each of them.
func (v verdict) spoiled() bool {
	for _, g := range v.gaps {
		stalled := false
		for _, s := range v.stalls {
			stalled = stalled || s.from < g.until && g.from < s.until
		}
		if !stalled {
			return false
		}
	}
	return len(v.gaps) > 0 && len(v.Problems)+len(v.missing) == 0
}

// complaints are all that is wrong, a sentence each.
func (v verdict) complaints() []string {
	var all []string
	for _, p := range v.Problems {
		all = append(all, fmt.Sprintf("%s: %s", p.Rule, p.Text))
	}
	all = append(all, v.missing...)
	for _, g := range v.gaps {
		all = append(all, fmt.Sprintf("gap too long: nobody was at work for %v, at most %v are allowed", round(g.until-g.from), maxGap))
	}
	return all
}

// print tells the verdict.
func (v verdict) print(s *screen) {
	s.say("The checker read the work log: %d terms.", len(v.Shifts))
	var stalled time.Duration
	for i, shift := range v.Shifts {
		how := "was elected"
		if i > 0 {
			away := shift.First - v.Shifts[i-1].Last
			how = succession(v.Shifts[i-1], away)
		}
		s.tell(v.names[shift.PID], fmt.Sprintf("%-24s token %d, worked %.1f s, %s", how, shift.Token, (shift.Last-shift.First).Seconds(), end(shift)))
	}
	for _, st := range v.stalls {
		stalled = max(stalled, st.length())
	}
	if stalled > 0 {
		s.say("The machine stalled meanwhile, %d time(s), for %v at the longest: successors may be later than usual.", len(v.stalls), round(stalled))
	}
	complaints := v.complaints()
	if len(complaints) == 0 {
		s.say("PASSED: never two at work, tokens grew, nobody at work for %v at the longest (%v allowed).", round(v.LongestGap()), maxGap)
		return
	}
	s.say("FAILED: %d finding(s).", len(complaints))
	for _, c := range complaints {
		s.say("  %s", c)
	}
}

// succession tells how a shift followed the one before.
func succession(before worklog.Shift, away time.Duration) string {
	switch {
	case away < 0:
		return "began beside the other"
	case before.Stopped:
		return fmt.Sprintf("hand-over, %v", round(away))
	}
	return fmt.Sprintf("take-over, %v", round(away))
}

func end(s worklog.Shift) string {
	if s.Stopped {
		return "stopped"
	}
	return "was killed"
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
