package sim

import "sync"

// Effect is in how many seeds a kind of fault fired, and in how many it has mattered: without it something else came of the run.
type Effect struct {
	Kind           Kind
	Fired, Matters int
}

// Matter runs n seeds from first on, and each once more without each kind of fault that it has.
func Matter(first uint64, n int, o Options) []Effect {
	effects := make([]Effect, kinds)
	for k := range kinds {
		effects[k].Kind = k
	}
	var mu sync.Mutex
	each(n, func(i int) {
		seed := first + uint64(i)
		whole := Run(seed, o)
		for k := range kinds {
			if whole.Fired[k] == 0 {
				continue
			}
			without := o
			without.Without = map[Kind]bool{k: true}
			r := Run(seed, without)
			mu.Lock()
			effects[k].Fired++
			if r.Outcome != whole.Outcome {
				effects[k].Matters++
			}
			mu.Unlock()
		}
	})
	return effects
}
