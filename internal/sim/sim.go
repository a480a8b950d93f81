package sim

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/internal/core"
)

// Machine is the state machine under test: core.Machine, or a copy of it with a bug.
type Machine interface {
	Step(in core.Input) []core.Action
	Due() (mono int64, ok bool)
}

// Options choose a run beside its seed. The zero value is what the seed says, on the machine of production.
type Options struct {
	// Minutes is how long a run is, in virtual time; 10 if zero. The last 75 s are free of faults.
	Minutes int
	// World is the name of a world; empty: the seed's own.
	World string
	// Without leaves kinds of faults out.
	Without map[Kind]bool
	// Plan replaces the faults that the seed draws, unless it is nil.
	Plan []Occurrence
	// New makes a machine; nil: core.New.
	New func(core.Config) Machine
	// Trace asks for Result.Trace.
	Trace bool
	// Record, if not nil, gets everything that goes into the machines and comes out.
	Record func(candidate string, cfg core.Config, in core.Input, out []core.Action)
}

// Result is what came of a run.
type Result struct {
	Seed       uint64
	World      *World
	Violations []Violation     // of invariants that the world promises; the run ends with the first
	Seen       [invariants]int // violations that the world doesn't exclude
	Fired      [kinds]int      // how often each kind of fault had something to act on
	Hash       uint64          // of each step's input and output: equal for equal runs
	Outcome    uint64          // of who led in which order, what was lost, and what the guards let pass: differs where a fault has mattered
	Plan       []Occurrence
	Trace      []string
	Processes  int
	Steps      int // of machines
	Requests   int
	Terms      int
	Losses     int
	Overruns   int
	Peak       int // the most requests that one candidate has sent within ten seconds
	Refusals   int // writes that a guard has refused
	Minutes    int
}

// Violation is a breach of an invariant.
type Violation struct {
	Invariant Invariant
	At        time.Duration // of virtual time
	Text      string
}

// String tells the violation in one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s at %s: %s (%s)", v.Invariant, clockText(int64(v.At)), v.Text, v.Invariant.Text())
}

// Run simulates one seed.
func Run(seed uint64, o Options) Result {
	if o.Minutes <= 0 {
		o.Minutes = 10
	}
	if o.New == nil {
		o.New = func(cfg core.Config) Machine { return core.New(cfg) }
	}
	w := newRun(seed, o)
	w.loop()
	return w.result()
}
