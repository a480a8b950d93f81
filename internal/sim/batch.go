package sim

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Batch is what came of many seeds.
type Batch struct {
	Seeds    int
	Steps    int
	Requests int
	Terms    int
	Losses   int
	Overruns int
	Refusals int
	Peak     int                         // see Result
	Fired    [kinds]int                  // seeds in which a kind had something to act on
	Worlds   map[*World]int              // seeds
	Seen     map[*World]*[invariants]int // seeds in which something was seen
	Failures []Result                    // seeds with violations; no more than ten
	Unequal  []uint64                    // seeds that came out otherwise when they were run again
	Violated int                         // seeds with violations
	Took     time.Duration
}

// enough is how many seeds of a world must show what it is there to show; four times as many where that is rare.
const enough = 150

// Problems lists what makes a batch worthless, beside violations: one sentence each.
func (b *Batch) Problems() []string {
	texts := b.Blind()
	for _, seed := range b.Unequal {
		texts = append(texts, fmt.Sprintf("seed %d came out otherwise when it was run again", seed))
	}
	if b.Seeds >= 3000 {
		for _, k := range b.Silent() {
			texts = append(texts, k.String()+" never had anything to act on")
		}
	}
	return texts
}

// Blind lists what ought to have been seen and was not, in one sentence each.
func (b *Batch) Blind() (texts []string) {
	for i := range Worlds {
		w := &Worlds[i]
		if n := b.Worlds[w]; n < enough || w.rare && n < 4*enough {
			continue
		}
		for _, s := range w.Sees {
			if b.Seen[w][s] == 0 {
				texts = append(texts, "in "+w.Name+" nobody has seen a violation of "+s.String()+": "+s.Text())
			}
		}
	}
	return texts
}

// Silent lists the kinds of faults which never had anything to act on.
func (b *Batch) Silent() (silent []Kind) {
	for k := range kinds {
		if b.Fired[k] == 0 {
			silent = append(silent, k)
		}
	}
	return silent
}

// Many runs n seeds from first on, on all cores.
func Many(first uint64, n int, o Options) *Batch {
	b := &Batch{Worlds: map[*World]int{}, Seen: map[*World]*[invariants]int{}}
	for i := range Worlds {
		b.Seen[&Worlds[i]] = new([invariants]int)
	}
	var mu sync.Mutex
	start := time.Now()
	each(n, func(i int) {
		r := Run(first+uint64(i), o)
		mu.Lock()
		defer mu.Unlock()
		b.add(&r)
	})
	b.Took = time.Since(start)
	b.again(first, n, o)
	return b
}

// checked is how many seeds of a batch are run again.
const checked = 100

// again runs some seeds twice more: the same seed must give the same run.
func (b *Batch) again(first uint64, n int, o Options) {
	var mu sync.Mutex
	d := newDice(first, "again")
	seeds := make([]uint64, min(n, checked))
	for i := range seeds {
		seeds[i] = first + uint64(d.upTo(int64(n)))
	}
	each(len(seeds), func(i int) {
		x, y := Run(seeds[i], o), Run(seeds[i], o)
		if x.Hash != y.Hash || x.Outcome != y.Outcome {
			mu.Lock()
			defer mu.Unlock()
			b.Unequal = append(b.Unequal, seeds[i])
		}
	})
}

// each calls f for 0 to n-1 on all cores.
func each(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	wg.Wait()
}

func (b *Batch) add(r *Result) {
	b.Seeds++
	b.Steps += r.Steps
	b.Requests += r.Requests
	b.Terms += r.Terms
	b.Losses += r.Losses
	b.Overruns += r.Overruns
	b.Refusals += r.Refusals
	b.Peak = max(b.Peak, r.Peak)
	b.Worlds[r.World]++
	for k, n := range r.Fired {
		b.Fired[k] += min(n, 1)
	}
	for i, n := range r.Seen {
		b.Seen[r.World][i] += min(n, 1)
	}
	if len(r.Violations) > 0 {
		b.Violated++
		if len(b.Failures) < 10 {
			b.Failures = append(b.Failures, *r)
		}
	}
}
