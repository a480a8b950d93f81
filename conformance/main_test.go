package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend"
)

func reportOf(outcomes ...Outcome) *Report {
	r := &Report{Target: "some<store>"}
	for i, o := range outcomes {
		result := Result{Case: Cases()[i], Outcome: o, Reason: "because"}
		if o == Violated {
			result.Failures = []Failure{{result.Case.Rule, "seen & <told>"}}
		}
		r.add(backend.Limits{Store: "some", Durability: backend.Local, Assumptions: []string{"The sun rises."}}, result)
	}
	return r
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		outcomes []Outcome
		strict   bool
		want     int
	}{
		{nil, false, ExitFailed},
		{[]Outcome{Holds, NotClaimed}, true, ExitHolds},
		{[]Outcome{Holds, Untested}, false, ExitHolds},
		{[]Outcome{Holds, Untested}, true, ExitUntested},
		{[]Outcome{Holds, Undecided}, true, ExitUntested},
		{[]Outcome{Undecided, Violated}, true, ExitViolated},
		{[]Outcome{Violated}, false, ExitViolated},
	} {
		if got := reportOf(tt.outcomes...).ExitCode(tt.strict); got != tt.want {
			t.Errorf("%v, strict %v: exit code %d, want %d", tt.outcomes, tt.strict, got, tt.want)
		}
	}
	r := reportOf(Undecided)
	r.Results[0].Setup = true
	if got := r.ExitCode(false); got != ExitFailed {
		t.Errorf("a store that can't be opened gives exit code %d, want %d", got, ExitFailed)
	}
}

// Every format tells the violation, what is not claimed and what the guarantees rest on.
func TestFormats(t *testing.T) {
	r := reportOf(Holds, Violated, NotClaimed)
	for _, format := range Formats {
		var b bytes.Buffer
		if err := r.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"VIOLATED", "not claimed", "because", "told"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("the %s report has no %q:\n%s", format, want, b.String())
			}
		}
		if format != "junit" && !strings.Contains(b.String(), "The sun rises.") {
			t.Errorf("the %s report doesn't tell what the guarantees rest on", format)
		}
		switch format {
		case "json":
			var v struct {
				Version  int
				Violated bool
				Rules    []struct{ Slug, Outcome string }
			}
			if err := json.Unmarshal(b.Bytes(), &v); err != nil || v.Version != 1 || !v.Violated || len(v.Rules) != len(Rules()) {
				t.Errorf("the JSON report reads as %+v, %v", v, err)
			}
		case "junit":
			var v junitSuites
			if err := xml.Unmarshal(b.Bytes(), &v); err != nil || v.Suites[0].Failures != 1 || v.Suites[0].Skipped != 1 || v.Suites[0].Tests != 3 {
				t.Errorf("the JUnit report reads as %+v, %v", v, err)
			}
		}
	}
	if err := r.Write(new(bytes.Buffer), "yaml"); err == nil || !strings.Contains(err.Error(), "text, json") {
		t.Errorf("an unknown format: %v", err)
	}
	if m := Matrix([]*Report{r}); !strings.Contains(m, "| S1 exclusive | VIOLATED |") || !strings.Contains(m, "some<store>") {
		t.Errorf("the matrix is\n%s", m)
	}
}

func TestMainTellsWhatIsWrongWithItsFlags(t *testing.T) {
	for _, args := range [][]string{{"-format", "yaml"}, {"-nonsense"}, {"extra"}} {
		var out, progress bytes.Buffer
		if code := run(t.Context(), Suite{}, args, &out, &progress); code != ExitFailed || progress.Len() == 0 || out.Len() != 0 {
			t.Errorf("%v: exit code %d, %q", args, code, progress.String())
		}
	}
}

func TestMainPlaysTheSuite(t *testing.T) {
	server := newBreakable("names ignore case")
	s := Suite{Open: func(T) backend.LeaseStore { return server.client() }, Serverless: true}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, progress bytes.Buffer
	if code := run(ctx, s, []string{"-format", "json"}, &out, &progress); code != ExitViolated {
		t.Errorf("exit code %d, want %d", code, ExitViolated)
	}
	if n := strings.Count(progress.String(), "\n"); n != len(Cases()) {
		t.Errorf("%d lines of progress for %d cases", n, len(Cases()))
	}
	if !json.Valid(out.Bytes()) {
		t.Error("the report is no JSON")
	}
}
