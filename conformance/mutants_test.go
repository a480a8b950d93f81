package conformance

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
)

func TestMutants(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		if r := examine(t, ""); r.Violated() {
			t.Errorf("the store without a bug violates the contract:\n%s", r)
		}
	})
	for _, m := range slices.Concat(mutants, optionalMutants) {
		t.Run(m.rule.Slug+" "+m.bug, func(t *testing.T) {
			if r := examine(t, m.bug); r.Outcome(m.rule) != Violated {
				t.Errorf("%s is %s, want it VIOLATED:\n%s", m.rule.Slug, r.Outcome(m.rule), r)
			}
		})
	}
}

// examine plays all cases on a store with the given bug, each in a bubble.
func examine(t *testing.T, bug string) *Report {
	server := newBreakable(bug)
	s := Suite{
		Open:   func(T) backend.LeaseStore { return server.client() },
		Plant:  func(_ T, election, moved string, version int) { server.plant(election, moved, version) },
		Remove: func(_ T, election string) { server.remove(election) },
	}
	s.Faults.Restart = func(T) { server.restart() }
	s.Faults.Failover = func(T) { server.failover() }
	report := new(Report)
	for _, c := range Cases() {
		if c.elects() {
			continue // see election_mutants_test.go
		}
		synctest.Test(t, func(t *testing.T) {
			result, store := play(t.Context(), s, c, c.Name)
			report.add(store, result)
			<-time.After(time.Hour) // some bugs leave goroutines behind for a while
		})
	}
	return report
}
