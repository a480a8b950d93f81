package cases

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// code is what the tests and conformance cases name: ids by test, and by case. mutants are the broken stores and electors of conformance, by their bugs.
type code struct {
	tests, cases map[string]map[string]bool
	mutants      map[string]bool
}

// scope is the greatest part of all ids that may be out of scope, as one in so many.
const scope = 10

// check compares the page with the code. What the page says of an id must be there and name it; an id that the code names must be on the page.
func check(rows []row, c code) error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	listed := map[string]bool{}
	outside := 0
	for _, r := range rows {
		listed[r.id] = true
		if r.note == "out of scope" {
			outside++
		}
		for _, bug := range r.mutants {
			if !c.mutants[bug] {
				problem("%s: there is no mutant %q", r.id, bug)
			}
		}
		for kind, names := range map[string][]string{"case": r.cases, "test": r.tests} {
			have := map[string]map[string]map[string]bool{"case": c.cases, "test": c.tests}[kind]
			for _, name := range names {
				if ids, there := have[name]; !there {
					problem("%s: there is no %s %q", r.id, kind, name)
				} else if !ids[r.id] {
					problem("%s: the %s %q doesn't name it", r.id, kind, name)
				}
			}
		}
	}
	if outside*scope > len(rows) {
		problem("%d of %d ids are out of scope", outside, len(rows))
	}
	for _, have := range []map[string]map[string]bool{c.cases, c.tests} {
		for _, name := range slices.Sorted(maps.Keys(have)) {
			for id := range have[name] {
				if !listed[id] {
					problem("%s, which %q names, isn't listed", id, name)
				}
			}
		}
	}
	return errors.Join(problems...)
}
