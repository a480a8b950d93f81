//go:build !race

package main

// underRace: trials run tenure as users do, built once.
const underRace = false
