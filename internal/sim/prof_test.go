package sim

import "testing"

func BenchmarkSeeds(b *testing.B) {
	for i := range b.N {
		Run(uint64(i), Options{})
	}
}
