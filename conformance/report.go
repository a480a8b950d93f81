package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Outcome is what became of a case, or of all cases of a rule.
type Outcome string

// Outcomes. None of them is silence.
const (
	Holds      Outcome = "holds"       // no counterexample was found
	Violated   Outcome = "VIOLATED"    // a counterexample was found
	NotClaimed Outcome = "not claimed" // the store doesn't claim it
	Untested   Outcome = "untested"    // the suite has no case, or was not given the means
	Undecided  Outcome = "undecided"   // the case was played but could not tell
)

// Failure is one counterexample.
type Failure struct {
	Rule Rule // the rule that it breaks: the case's own, or one that every history is checked for
	Text string
}

// String tells the failure and the sentence that it breaks.
func (f Failure) String() string {
	return fmt.Sprintf("%s VIOLATED: %s\n\trule: %s", f.Rule.Slug, f.Text, f.Rule.Sentence)
}

// Result is what became of one case.
type Result struct {
	Case     Case
	Outcome  Outcome
	Failures []Failure
	// Reason says why the case was not decided, tested or claimed.
	Reason string
	// Setup is set when Suite.Open, Plant or Remove failed: nothing is said about the store then.
	Setup bool
	// Took is how long the case took.
	Took time.Duration
	// Log is what was logged.
	Log []string
}

// Report collects results. It may be read when Run or Check has returned.
type Report struct {
	// Target names what was tested, for example a URL without its password. Empty: the store's name.
	Target  string
	Store   string
	Limits  backend.Limits // what the guarantees rest on
	Results []Result

	mu sync.Mutex
}

func (r *Report) add(limits backend.Limits, result Result) {
	r.mu.Lock()
	r.Results = append(r.Results, Result{})
	i := len(r.Results) - 1
	r.mu.Unlock()
	r.set(i, limits, result)
}

func (r *Report) set(i int, limits backend.Limits, result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Results[i] = result
	if limits.Store != "" {
		r.Store, r.Limits = limits.Store, limits
	}
}

// Outcome tells what became of a rule: violated by any history or case; else undecided where one of its cases was; else it holds where at least one
// case says so.
func (r *Report) Outcome(rule Rule) Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	var own []Outcome
	for _, result := range r.Results {
		for _, f := range result.Failures {
			if f.Rule == rule {
				return Violated
			}
		}
		if result.Case.Rule == rule {
			own = append(own, result.Outcome)
		}
	}
	switch {
	case slices.Contains(own, Undecided), slices.Contains(own, Violated): // violated by another rule's failure: cut short
		return Undecided
	case slices.Contains(own, Holds):
		return Holds
	case slices.Contains(own, NotClaimed):
		return NotClaimed
	}
	return Untested
}

// Violated reports whether any rule was violated.
func (r *Report) Violated() bool {
	return slices.ContainsFunc(Rules(), func(rule Rule) bool { return r.Outcome(rule) == Violated })
}

// String lists the rules with their outcomes, and every case that doesn't hold with the reason.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "conformance of %s: no counterexample is not a proof\n", r.Title())
	for _, rule := range Rules() {
		fmt.Fprintf(&b, "%-7s %-18s %s\n", rule.Slug, rule.Title, r.Outcome(rule))
		for _, result := range r.Results {
			if result.Case.Rule == rule && result.Outcome != Holds {
				fmt.Fprintf(&b, "        %s: %s%s\n", result.Outcome, result.Case.Name, result.why())
			}
		}
	}
	for _, line := range r.restsOn() {
		fmt.Fprintf(&b, "rests on: %s\n", line)
	}
	return b.String()
}

// Title names what was tested.
func (r *Report) Title() string {
	if r.Target != "" {
		return r.Target
	}
	return r.Store
}

// restsOn lists what the guarantees rest on, as the store declares it.
func (r *Report) restsOn() []string {
	var lines []string
	if r.Limits.Durability != "" {
		lines = append(lines, fmt.Sprintf("acknowledged writes are %s; tokens come from %s; wake-ups are %s", r.Limits.Durability, r.Limits.Tokens, r.Limits.WakeUp))
	}
	return append(lines, r.Limits.Assumptions...)
}

func (r Result) why() string {
	text := ""
	if r.Reason != "" {
		text = ": " + r.Reason
	}
	for _, f := range r.Failures {
		text += "\n            " + f.Rule.Slug + ": " + f.Text
	}
	return text
}
