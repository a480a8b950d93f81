package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reports makes one of each column, with one rule.
func reports(outcome conformance.Outcome) map[string]report {
	all := make(map[string]report)
	for _, c := range columns {
		r := report{Target: c}
		r.Rules = append(r.Rules, struct {
			Slug, Title string
			Outcome     conformance.Outcome
			Cases       []struct {
				Name, Reason string
				Outcome      conformance.Outcome
			}
		}{Slug: "S1", Title: "exclusive", Outcome: outcome})
		all[c] = r
	}
	return all
}

func build(t *testing.T, o conformance.Outcome) *table {
	t.Helper()
	table, err := newTable(reports(o))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestAStaleReadmeIsNoticed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(file, []byte("# x\n\n"+begin+end+"\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds := build(t, conformance.Holds)
	if err := holds.check(file); err == nil {
		t.Error("an empty table passes")
	}
	if err := holds.write(file); err != nil {
		t.Fatal(err)
	}
	if err := holds.check(file); err != nil {
		t.Error(err)
	}
	if err := build(t, conformance.Undecided).check(file); err != nil {
		t.Errorf("a run that could not decide contradicts the table: %v", err)
	}
	for _, o := range []conformance.Outcome{conformance.Violated, conformance.NotClaimed, conformance.Untested} {
		if err := build(t, o).check(file); err == nil || !strings.Contains(err.Error(), "stale") {
			t.Errorf("%s in place of holds: %v", o, err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(b), "# x\n\n") || !strings.HasSuffix(string(b), end+"\nmore\n") {
		t.Errorf("the rest of the file was changed: %q, %v", b, err)
	}
}

func TestAMissingReportIsNoticed(t *testing.T) {
	all := reports(conformance.Holds)
	delete(all, "Consul")
	if _, err := newTable(all); err == nil || !strings.Contains(err.Error(), "Consul") {
		t.Errorf("got %v", err)
	}
}
