package sim

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// dice is one stream of random numbers. Each part of a run has its own, so that what one part draws doesn't shift what others get.
type dice struct{ rand.PCG }

// newDice returns the stream of a seed with this name.
func newDice(seed uint64, name string) dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash doesn't fail
	var d dice
	d.Seed(seed, h.Sum64())
	d.Uint64()
	return d
}

// upTo returns a number from 0 up to, not including, n.
func (d *dice) upTo(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return int64(d.Uint64() % uint64(n))
}

func (d *dice) between(low, high time.Duration) int64 { return int64(low) + d.upTo(int64(high-low)+1) }

func (d *dice) oneIn(n int64) bool { return d.upTo(n) == 0 }

// either returns x or -x.
func (d *dice) either(x int64) int64 {
	if d.oneIn(2) {
		return -x
	}
	return x
}
