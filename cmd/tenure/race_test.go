//go:build race

package main

// raceNote marks figures that are not those of a release.
const raceNote = ", with the race detector"
