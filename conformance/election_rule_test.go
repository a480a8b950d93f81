package conformance

import (
	"os"
	"strings"
	"testing"
)

// The elector's package comment and the suite are one text.
func TestElectionRulesStandInTheElectorsPackageComment(t *testing.T) {
	source, err := os.ReadFile("../elector/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	for _, r := range electionRules() {
		if want := r.Slug + " " + r.Title + ". " + r.Sentence; !strings.Contains(text, want) {
			t.Errorf("package elector does not say: %s", want)
		}
	}
}
