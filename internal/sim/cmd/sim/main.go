// Command sim runs the deterministic simulation of elections; see package sim.
//
//	sim -seeds 10000           fresh seeds, on all cores
//	sim -seed 4711             one seed, told in plain words
//	sim -seed 4711 -shrink     the same, with as few faults as possible
//	sim -matter -seeds 2000    in how many seeds each kind of fault mattered
//	sim -seeds 100000 -record  and the sum is added to the record of all runs
//
// It exits with status 1 if an invariant was violated, or if something that had to be seen was not.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/tenure-go/tenure/internal/sim"
)

type settings struct {
	seeds, minutes         int
	seed, first            uint64
	world                  string
	shrink, record, matter bool
	hunt                   bool
}

func main() {
	var s settings
	flag.IntVar(&s.seeds, "seeds", 10000, "how many seeds to run")
	flag.Uint64Var(&s.seed, "seed", 0, "run this seed alone, and tell what happens")
	flag.Uint64Var(&s.first, "first", 0, "the first of the seeds; 0: drawn")
	flag.IntVar(&s.minutes, "minutes", 10, "virtual minutes of each run")
	flag.StringVar(&s.world, "world", "", "the world to run all seeds in; empty: each in its own")
	flag.BoolVar(&s.shrink, "shrink", false, "with -seed: look for the smallest plan of faults that violates the same invariant")
	flag.BoolVar(&s.record, "record", false, "add the sum to "+recordFile)
	flag.BoolVar(&s.matter, "matter", false, "run each seed again without each kind of fault, and print in how many it mattered")
	flag.BoolVar(&s.hunt, "hunt", false, "stop at the first seed with a violation, and tell how many it took")
	flag.Parse()
	if s.first == 0 {
		s.first = rand.Uint64() >> 16
	}
	out := bufio.NewWriter(os.Stdout)
	err := run(out, s)
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sim:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, s settings) error {
	o := sim.Options{Minutes: s.minutes, World: s.world}
	switch {
	case s.seed != 0:
		return one(out, s, o)
	case s.hunt:
		return hunt(out, s, o)
	case s.matter:
		return matter(out, s, o)
	}
	return many(out, s, o)
}

// one tells the story of a seed.
func one(out io.Writer, s settings, o sim.Options) error {
	o.Trace = true
	var r sim.Result
	if s.shrink {
		r = sim.Shrink(s.seed, o)
	} else {
		r = sim.Run(s.seed, o)
	}
	for _, line := range r.Trace {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintf(out, "seed %d, world %q, %d processes, %d faults, %d terms, %d lost, hash %016x\n",
		r.Seed, r.World.Name, r.Processes, len(r.Plan), r.Terms, r.Losses, r.Hash)
	if len(r.Violations) > 0 {
		return fmt.Errorf("seed %d: %s", s.seed, r.Violations[0])
	}
	return nil
}

func many(out io.Writer, s settings, o sim.Options) error {
	if s.record {
		if err := recordable(); err != nil {
			return err
		}
	}
	loops := calibrate()
	b := sim.Many(s.first, s.seeds, o)
	printFaults(out, b)
	printWorlds(out, b)
	years := time.Duration(b.Seeds) * time.Duration(s.minutes) * time.Minute
	fmt.Fprintf(out, "at most %d requests of one candidate within ten seconds\n", b.Peak)
	fmt.Fprintf(out, "%d steps, %d requests, %d terms, %d lost, %d overran, %d writes refused by guards; %.1f virtual days\n",
		b.Steps, b.Requests, b.Terms, b.Losses, b.Overruns, b.Refusals, years.Hours()/24)
	for _, r := range b.Failures {
		fmt.Fprintf(out, "VIOLATED: seed %d (%s): %s\n  tell it: make sim SEED=%d SHRINK=1\n", r.Seed, r.World.Name, r.Violations[0], r.Seed)
	}
	problems := b.Problems()
	for _, text := range problems {
		fmt.Fprintln(out, "PROBLEM:", text)
	}
	if s.record {
		if err := record(b); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "seeds %d to %d: %.0f seeds a minute (calibration loop: %.0f million rounds a second and core); %d violations\n",
		s.first, s.first+uint64(s.seeds)-1, float64(b.Seeds)/b.Took.Minutes(), loops, b.Violated)
	if b.Violated > 0 || len(problems) > 0 {
		return fmt.Errorf("%d seeds with violations, %d other problems", b.Violated, len(problems))
	}
	return nil
}

func printFaults(out io.Writer, b *sim.Batch) {
	fmt.Fprintf(out, "%-36s %s\n", "fault", "seeds in which it had something to act on")
	for k, n := range b.Fired {
		fmt.Fprintf(out, "%-36s %d\n", sim.Kind(k), n)
	}
}

func printWorlds(out io.Writer, b *sim.Batch) {
	fmt.Fprintln(out)
	for i := range sim.Worlds {
		w := &sim.Worlds[i]
		fmt.Fprintf(out, "%-28s %6d seeds", w.Name, b.Worlds[w])
		for _, s := range w.Sees {
			fmt.Fprintf(out, ", breach of %v seen in %d", s, b.Seen[w][s])
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
}

// hunt tells how many seeds it takes to find a bug.
func hunt(out io.Writer, s settings, o sim.Options) error {
	r, n := sim.Hunt(s.first, s.seeds, o)
	if r == nil {
		fmt.Fprintf(out, "nothing found in %d seeds\n", n)
		return nil
	}
	fmt.Fprintf(out, "found after %d seeds: seed %d (%s): %s\n", n, r.Seed, r.World.Name, r.Violations[0])
	return nil
}

func matter(out io.Writer, s settings, o sim.Options) error {
	idle, total := 0, 0
	fmt.Fprintf(out, "%-36s %8s %8s\n", "fault", "fired", "mattered")
	for _, e := range sim.Matter(s.first, s.seeds, o) {
		fmt.Fprintf(out, "%-36s %8d %8d\n", e.Kind, e.Fired, e.Matters)
		total++
		if e.Matters < few {
			idle++
		}
	}
	fmt.Fprintf(out, "%d kinds of faults, %d of them mattered in %d seeds or more of %d\n", total, total-idle, few, s.seeds)
	if total-idle < manyKinds {
		return fmt.Errorf("only %d kinds of faults have mattered", total-idle)
	}
	return nil
}

// At least so many kinds of faults must matter in at least a few seeds.
const few, manyKinds = 3, 40

// calibrate tells how fast this machine is just now, in millions of rounds a second: a figure to read the speed of the simulation by.
func calibrate() float64 {
	const rounds = 100_000_000
	start := time.Now()
	x := uint64(1)
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	took := time.Since(start)
	if x == 0 { // it never is, but the loop must not be optimised away
		return 0
	}
	return rounds / took.Seconds() / 1e6
}
