package sim

import (
	"testing"
)

func TestSmoke(t *testing.T) {
	var steps, terms, losses, over, refus, reqs int
	var seen [invariants]map[string]int
	bad := 0
	for seed := range uint64(300) {
		r := Run(seed, Options{})
		steps += r.Steps
		reqs += r.Requests
		terms += r.Terms
		losses += r.Losses
		over += r.Overruns
		refus += r.Refusals
		for i := range r.Seen {
			if r.Seen[i] > 0 {
				if seen[i] == nil {
					seen[i] = map[string]int{}
				}
				seen[i][r.World.Name]++
			}
		}
		for _, v := range r.Violations {
			bad++
			t.Logf("seed %d %s: %s", seed, r.World.Name, v)
		}
	}
	t.Log(steps, reqs, terms, losses, over, refus, "bad", bad)
	for i := range seen {
		if seen[i] != nil {
			t.Log(Invariant(i), seen[i])
		}
	}
}
