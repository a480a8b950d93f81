//go:build !race

package conformance

import "testing"

// The race detector of Go 1.26 crashes in thousands of bubbles with electors that leave goroutines behind: 'make mutants' plays these without it.

func TestElectorMutants(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		s := breakableSuite("")
		s.elect = newBrokenElector("")
		if r := examineElections(t, s); r.Violated() {
			t.Errorf("the elector without a bug violates the rules:\n%s", r)
		}
	})
	for _, m := range electorMutants {
		t.Run(m.rule.Slug+" "+m.bug, func(t *testing.T) {
			s := breakableSuite("")
			s.elect = newBrokenElector(m.bug)
			wantViolated(t, examineElections(t, s), m.rule)
		})
	}
}

func TestStoreMutantsBelowElectors(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		if r := examineElections(t, breakableSuite("")); r.Violated() {
			t.Errorf("the store without a bug violates the rules:\n%s", r)
		}
	})
	for _, m := range storeMutants {
		t.Run(m.rule.Slug+" "+m.bug, func(t *testing.T) { wantViolated(t, examineElections(t, breakableSuite(m.bug)), m.rule) })
	}
}
