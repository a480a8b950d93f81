//go:build !race

package main

const raceNote = ""
