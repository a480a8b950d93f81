package conformance

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

func TestEveryCaseHasANameOfItsOwnAndEveryCoreRuleHasCases(t *testing.T) {
	names := make(map[string]bool)
	rules := make(map[Rule]bool)
	for _, c := range Cases() {
		if names[c.Name] || c.Name == "" || c.run == nil {
			t.Errorf("case %q is named twice or empty", c.Name)
		}
		names[c.Name], rules[c.Rule] = true, true
	}
	for _, r := range Rules() {
		if !rules[r] {
			t.Errorf("%s has no case", r.Slug)
		}
	}
}

func TestEveryRuleWithCasesHasAMutant(t *testing.T) {
	caught := make(map[Rule]bool)
	for _, m := range mutants {
		caught[m.rule] = true
	}
	for _, m := range slices.Concat(electorMutants, storeMutants, optionalMutants) {
		caught[m.rule] = true
	}
	for _, c := range Cases() {
		if !caught[c.Rule] {
			t.Errorf("%s has cases but no mutant", c.Rule.Slug)
		}
	}
}

// playOne plays a case of its own making in a bubble.
func playOne(t *testing.T, s Suite, run func(*trial)) (result Result) {
	synctest.Test(t, func(t *testing.T) { result, _ = play(t.Context(), s, Case{Name: "x", Rule: s5, run: run}, "x") })
	return result
}

func TestOutcomes(t *testing.T) {
	server := memory.NewServer()
	good := Suite{Open: func(T) backend.LeaseStore { return server.Client() }}
	unreachable := Suite{Open: func(t T) backend.LeaseStore { t.Fatalf("no route to host"); return nil }}
	cases := []struct {
		name  string
		suite Suite
		run   func(*trial)
		want  Outcome
		text  string
	}{
		{"nothing went wrong", good, func(*trial) {}, Holds, ""},
		{"an assertion failed", good, func(t *trial) { t.Fatalf("no lease") }, Violated, "no lease"},
		{"a panic", good, func(*trial) { panic("index out of range") }, Violated, "panic: index out of range"},
		{"not claimed", good, func(t *trial) { t.stop(NotClaimed, "no Raise") }, NotClaimed, "no Raise"},
		{"too slow each time", good, func(t *trial) { t.inTime(time.Now()) }, Undecided, "the machine was too slow"},
		{"the store can't be opened", unreachable, func(*trial) {}, Undecided, "no route to host"},
		{"Open is missing", Suite{}, func(*trial) {}, Undecided, "Suite.Open is required"},
		{"a violation of the history's", good, func(t *trial) {
			t.history.add(call{op: "raise", election: "e", raised: 7, sent: t.history.now()})
			t.history.add(call{op: "acquire", election: "e", granted: backend.Lease{Token: 7}, sent: t.history.now()})
		}, Violated, "not above 7"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			result := playOne(t, c.suite, c.run)
			report := &Report{Results: []Result{result}}
			if result.Outcome != c.want || !strings.Contains(report.String(), c.text) {
				t.Errorf("outcome %s, want %s with %q in the report:\n%s", result.Outcome, c.want, c.text, report)
			}
		})
	}
}

func TestASlowMachineGetsLongerTTLs(t *testing.T) {
	server := memory.NewServer()
	var seen []time.Duration
	result := playOne(t, Suite{TTL: time.Second, Open: func(T) backend.LeaseStore { return server.Client() }}, func(t *trial) {
		seen = append(seen, t.ttl)
		if len(seen) < 3 {
			t.inTime(time.Now())
		}
	})
	if result.Outcome != Holds || len(seen) != 3 || seen[2] != 4*time.Second {
		t.Errorf("outcome %s after TTLs of %v, want it to hold with 4 s", result.Outcome, seen)
	}
}

func TestCheckStopsWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	server := memory.NewServer()
	report := Check(ctx, Suite{Open: func(T) backend.LeaseStore { return server.Client() }})
	if report.Violated() || len(report.Results) != len(Cases()) {
		t.Errorf("a check that was not let run has a verdict:\n%s", report)
	}
}
