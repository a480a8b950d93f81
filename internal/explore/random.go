package explore

import "time"

// The machine stretches one random number per step to as many as it takes. Waits are chosen rather than drawn: the number below makes the first draw of a step, and the first one after
// an attempt was drawn, come out above zero and below a quantum of the slowest clock, whatever the bound of the wait is.
var theRandom = findRandom()

const golden = 0x9e3779b97f4a7c15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func findRandom() uint64 {
	for r := uint64(1); ; r++ {
		first := mix(r + golden)
		if short(first) && short(mix(first+golden)) {
			return r
		}
	}
}

func short(n uint64) bool {
	for _, bound := range [...]uint64{20, 25, 30, 40, 50, 60, 80, 100, 120} {
		if n%(bound*uint64(time.Millisecond)) >= uint64(quantum*8/10) {
			return false
		}
	}
	return true
}
