//go:build race

package conformance

// underRace: the race detector of Go 1.26 crashes in thousands of bubbles with electors that leave goroutines behind, so CI plays those mutants without it.
const underRace = true
