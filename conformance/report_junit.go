package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Time    string       `xml:"time,attr"`
	Failure *junitReason `xml:"failure,omitempty"`
	Skipped *junitReason `xml:"skipped,omitempty"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML: a test suite per rule. Violations are failures; what is not claimed, untested or undecided is skipped, with the reason.
func (r *Report) WriteJUnit(w io.Writer) error {
	var out junitSuites
	for _, rule := range Rules() {
		suite := junitSuite{Name: fmt.Sprintf("%s: %s %s", r.Title(), rule.Slug, rule.Title)}
		for _, result := range r.of(rule) {
			c := junitCase{Class: r.Title() + "." + rule.Slug, Name: result.Case.Name, Time: fmt.Sprintf("%.3f", result.Took.Seconds())}
			suite.Tests++
			switch result.Outcome {
			case Holds:
			case Violated:
				suite.Failures++
				c.Failure = &junitReason{Message: string(Violated), Text: strings.TrimSpace(result.why())}
			default:
				suite.Skipped++
				c.Skipped = &junitReason{Message: fmt.Sprintf("%s: %s", result.Outcome, result.Reason)}
			}
			suite.Cases = append(suite.Cases, c)
		}
		out.Suites = append(out.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
