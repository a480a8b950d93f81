package worklog

import (
	"errors"
	"fmt"
	"time"
)

// Shift is the work of one process under one token.
type Shift struct {
	Token       int64
	PID         int
	First, Last time.Duration // its first and last line, on the boot clock
	Stopped     bool          // it wrote stop; else it was killed or is still at work
	Lines       int
}

// Rule names what a problem violates.
type Rule string

// The rules.
const (
	Exclusion Rule = "two at work"                // never two at once
	Tokens    Rule = "a token that does not grow" // each shift's is greater than all before
	Order     Rule = "lines out of order"         // start first, stop last, time forward: else the log itself is no evidence
)

// Problem is one violation.
type Problem struct {
	Rule Rule
	Text string
}

// Report is what a work log shows.
type Report struct {
	Shifts   []Shift // in the order of their first lines
	Problems []Problem
}

// Err returns all problems as one error, nil if there are none.
func (r Report) Err() error {
	var errs []error
	for _, p := range r.Problems {
		errs = append(errs, fmt.Errorf("%s: %s", p.Rule, p.Text))
	}
	return errors.Join(errs...)
}

// Gaps returns for how long nobody was at work between one shift and the next.
func (r Report) Gaps() []time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(r.Shifts); i++ {
		gaps = append(gaps, r.Shifts[i].First-r.Shifts[i-1].Last)
	}
	return gaps
}

// LongestOverlap is the longest time for which a shift went on after a later one had begun, zero if there was none.
func (r Report) LongestOverlap() (longest time.Duration) {
	for i, s := range r.Shifts {
		for _, later := range r.Shifts[i+1:] {
			longest = max(longest, s.Last-later.First)
		}
	}
	return longest
}

// LongestGap is the longest of Gaps, zero if there are none.
func (r Report) LongestGap() (longest time.Duration) {
	for _, g := range r.Gaps() {
		longest = max(longest, g)
	}
	return longest
}

type worker struct {
	token int64
	pid   int
}

// checker goes through the lines once. The shift under way is the last one.
type checker struct {
	report Report
	seen   map[worker]int           // index of its shift
	told   map[worker]map[Rule]bool // what was reported: the first line that breaks a rule says enough
}

// Check looks for two at work at once, tokens that don't grow, and lines that no worker writes.
func Check(lines []Line) Report {
	c := checker{seen: map[worker]int{}, told: map[worker]map[Rule]bool{}}
	for _, l := range lines {
		c.line(l)
	}
	return c.report
}

func (c *checker) problem(w worker, rule Rule, format string, args ...any) {
	if c.told[w] == nil {
		c.told[w] = map[Rule]bool{}
	}
	if c.told[w][rule] {
		return
	}
	c.told[w][rule] = true
	c.report.Problems = append(c.report.Problems, Problem{rule, fmt.Sprintf(format, args...)})
}

func (c *checker) line(l Line) {
	w := worker{l.Token, l.PID}
	i, known := c.seen[w]
	if l.Kind == Start || !known {
		if known {
			c.problem(w, Order, "token %d, process %d starts twice", l.Token, l.PID)
		} else if l.Kind != Start {
			c.problem(w, Order, "token %d, process %d writes %s before start", l.Token, l.PID, l.Kind)
		}
		c.begin(w, l)
		return
	}
	s := &c.report.Shifts[i]
	last := len(c.report.Shifts) - 1
	switch {
	case s.Stopped:
		c.problem(w, Order, "token %d, process %d writes %s after stop", l.Token, l.PID, l.Kind)
	case i != last:
		next := c.report.Shifts[last]
		c.problem(w, Exclusion, "token %d, process %d writes %s %v after process %d began under token %d", l.Token, l.PID, l.Kind, l.At-next.First, next.PID, next.Token)
	case l.At < s.Last:
		c.problem(w, Order, "token %d, process %d: time goes back by %v", l.Token, l.PID, s.Last-l.At)
	}
	s.Last, s.Stopped, s.Lines = max(s.Last, l.At), l.Kind == Stop, s.Lines+1
}

// begin starts a shift. The one before is over if it wrote stop; if not, its last line must lie before.
func (c *checker) begin(w worker, l Line) {
	for _, s := range c.report.Shifts {
		if s.Token >= l.Token {
			c.problem(w, Tokens, "token %d of process %d comes after token %d of process %d", l.Token, l.PID, s.Token, s.PID)
		}
		if s.Last >= l.At {
			c.problem(w, Exclusion, "process %d begins under token %d %v before the last line of process %d under token %d", l.PID, l.Token, s.Last-l.At, s.PID, s.Token)
		}
	}
	c.seen[w] = len(c.report.Shifts)
	c.report.Shifts = append(c.report.Shifts, Shift{Token: l.Token, PID: l.PID, First: l.At, Last: l.At, Stopped: l.Kind == Stop, Lines: 1})
}
