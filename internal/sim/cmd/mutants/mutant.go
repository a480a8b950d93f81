package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is a mistake, seeded into one file of package core.
type mutant struct {
	name     string // in the table: what goes wrong
	file     string // of internal/core
	world    string // in which it is hunted for, if it shows in one alone; empty: in all
	old, new string // the text that is replaced, which occurs once, and the mistake
}

// folder is where the sources to mutate are, from the root of the module.
const folder = "internal/core"

func (m mutant) path() string { return filepath.Join(folder, m.file) }

// apply returns the source with the mistake. A text that isn't there exactly once is an error, lest the list rot.
func (m mutant) apply(source string) (string, error) {
	if n := strings.Count(source, m.old); n != 1 {
		return "", fmt.Errorf("%s: the text to replace occurs %d times in %s, not once:\n%s", m.name, n, m.path(), m.old)
	}
	return strings.Replace(source, m.old, m.new, 1), nil
}

// all is every mistake, in the order of a lease's life.
func all() []mutant { return slices.Concat(deadlines, campaigns, seals, terms, renewals, releases) }

// third is one of three parts of the list, each with mistakes of all kinds.
func third(list []mutant, n int) []mutant {
	var part []mutant
	for i, m := range list {
		if i%3 == n%3 {
			part = append(part, m)
		}
	}
	return part
}
