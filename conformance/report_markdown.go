package conformance

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the report as Markdown: a table of the rules, what they rest on, and every case that doesn't hold.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\nNo counterexample was found where a rule holds; that is not a proof.\n\n| rule | | outcome | cases |\n| --- | --- | --- | --- |\n", r.Title())
	var details strings.Builder
	for _, rule := range Rules() {
		results := r.of(rule)
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", rule.Slug, rule.Title, r.Outcome(rule), len(results))
		for _, result := range results {
			if result.Outcome != Holds {
				fmt.Fprintf(&details, "- %s %s: %s%s\n", rule.Slug, result.Outcome, result.Case.Name, strings.ReplaceAll(result.why(), "\n            ", "\n  - "))
			}
		}
	}
	b.WriteString("\n")
	for _, line := range r.restsOn() {
		fmt.Fprintf(&b, "- rests on: %s\n", line)
	}
	b.WriteString(details.String())
	_, err := io.WriteString(w, b.String())
	return err
}

// Matrix is a Markdown table of the outcomes of several reports: a row per rule that is not Optional, a column per report. ✓ stands for holds, – for not claimed.
func Matrix(reports []*Report) string {
	columns := make([]string, len(reports))
	for i, r := range reports {
		columns[i] = r.Title()
	}
	return MatrixOf(columns, func(column int, rule Rule) Outcome { return reports[column].Outcome(rule) })
}

// MatrixOf is the table of Matrix from outcomes of any origin, such as reports in files.
func MatrixOf(columns []string, outcome func(column int, rule Rule) Outcome) string {
	var b strings.Builder
	b.WriteString("| | " + strings.Join(columns, " | ") + " |\n| --- |" + strings.Repeat(" :-: |", len(columns)) + "\n")
	for _, rule := range Rules() {
		if rule.Level == Optional {
			continue
		}
		fmt.Fprintf(&b, "| %s %s |", rule.Slug, rule.Title)
		for i := range columns {
			b.WriteString(" " + sign(outcome(i, rule)) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// sign is an outcome in one short word.
func sign(o Outcome) string {
	switch o {
	case Holds:
		return "✓"
	case Violated:
		return "VIOLATED"
	case NotClaimed:
		return "–"
	}
	return string(o)
}
