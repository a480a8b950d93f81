//go:build race

package main

// underRace: trials run the test binary itself as tenure, so that the race detector sees all of it. Their figures are not those of a release.
const underRace = true
