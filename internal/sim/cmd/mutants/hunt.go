package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// catch is what the hunts for one mistake came to.
type catch struct {
	mutant
	seeds []int    // how many each hunt took, sorted
	by    []string // invariants that were violated, the most frequent first
}

func (c *catch) median() int { return c.seeds[len(c.seeds)/2] }
func (c *catch) worst() int  { return c.seeds[len(c.seeds)-1] }

// apart is how far the first seeds of hunts are from each other: no hunt runs into another's seeds.
const apart = 1_000_000

// patience is how long a hunt may take on the slowest machine. One that takes longer hangs: the mistake is no use in the list.
const patience = 10 * time.Minute

var answer = regexp.MustCompile(`^found after (\d+) seeds: seed \d+ \(.*?\): (\S+) at `)

// hunt runs seeds from first on until one violates an invariant. It returns 0 if none does.
func hunt(ctx context.Context, program, world string, first uint64, most int) (seeds int, invariant string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "-hunt", "-first", strconv.FormatUint(first, 10), "-seeds", strconv.Itoa(most), "-world", world).CombinedOutput()
	if err != nil {
		return 0, "", fmt.Errorf("the hunt from seed %d on has failed: %w\n%.2000s", first, err, out)
	}
	if string(out) == fmt.Sprintf("nothing found in %d seeds\n", most) {
		return 0, "", nil
	}
	found := answer.FindSubmatch(out)
	if found == nil {
		return 0, "", fmt.Errorf("the hunt from seed %d on has said what nobody understands: %.2000s", first, out)
	}
	seeds, err = strconv.Atoi(string(found[1]))
	return seeds, string(found[2]), err
}

// hunts runs several hunts for one mistake; each must find it.
func hunts(ctx context.Context, program string, m mutant, s settings) (catch, error) {
	c := catch{mutant: m}
	times := map[string]int{}
	for i := range s.hunts {
		first := s.first + uint64(i)*apart
		n, invariant, err := hunt(ctx, program, m.world, first, s.seeds)
		if err != nil {
			return c, err
		}
		if n == 0 {
			return c, fmt.Errorf("not caught in %d seeds from %d on", s.seeds, first)
		}
		c.seeds = append(c.seeds, n)
		times[invariant]++
	}
	slices.Sort(c.seeds)
	c.by = byFrequency(times)
	return c, nil
}
