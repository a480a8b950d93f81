package sim

import (
	"math"
	"sync"
)

// Hunt runs seeds from first on until one violates an invariant that its world promises, n at most. It returns the first such seed's result and
// how many seeds it took, or nil and n: how soon a planted bug is found.
func Hunt(first uint64, n int, o Options) (*Result, int) {
	var mu sync.Mutex
	found, at := (*Result)(nil), math.MaxInt
	each(n, func(i int) {
		mu.Lock()
		over := i > at
		mu.Unlock()
		if over {
			return
		}
		if r := Run(first+uint64(i), o); len(r.Violations) > 0 {
			mu.Lock()
			defer mu.Unlock()
			if i < at {
				found, at = &r, i
			}
		}
	})
	if found == nil {
		return nil, n
	}
	return found, at + 1
}
