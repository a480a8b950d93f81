package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
)

// formatVersion is raised when a field of the JSON report changes its meaning or goes.
const formatVersion = 1

type jsonReport struct {
	Version  int        `json:"version"`
	Target   string     `json:"target"`
	Store    string     `json:"store"`
	Violated bool       `json:"violated"`
	RestsOn  []string   `json:"rests_on"`
	Rules    []jsonRule `json:"rules"`
}

type jsonRule struct {
	Slug     string     `json:"slug"`
	Title    string     `json:"title"`
	Level    Level      `json:"level"`
	Sentence string     `json:"sentence"`
	Outcome  Outcome    `json:"outcome"`
	Cases    []jsonCase `json:"cases"`
}

type jsonCase struct {
	Name     string   `json:"name"`
	Covers   []string `json:"covers,omitempty"`
	Outcome  Outcome  `json:"outcome"`
	Reason   string   `json:"reason,omitempty"`
	Failures []string `json:"failures,omitempty"`
	Millis   int64    `json:"milliseconds"`
}

// WriteJSON writes the report as one JSON object. Its field "version" tells the format, which is 1.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{Version: formatVersion, Target: r.Title(), Store: r.Store, Violated: r.Violated(), RestsOn: r.restsOn()}
	for _, rule := range Rules() {
		j := jsonRule{Slug: rule.Slug, Title: rule.Title, Level: rule.Level, Sentence: rule.Sentence, Outcome: r.Outcome(rule), Cases: []jsonCase{}}
		for _, result := range r.of(rule) {
			c := jsonCase{Name: result.Case.Name, Covers: result.Case.Covers, Outcome: result.Outcome, Reason: result.Reason, Millis: result.Took.Milliseconds()}
			for _, f := range result.Failures {
				c.Failures = append(c.Failures, f.String())
			}
			j.Cases = append(j.Cases, c)
		}
		out.Rules = append(out.Rules, j)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// reportsVariable names the folder in which Run leaves its reports.
const reportsVariable = "TENURE_CONFORMANCE_REPORTS"

// save writes the report into a folder, in a file named after its target.
func (r *Report) save(folder string) error {
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, url.PathEscape(r.Target)+".json"), b.Bytes(), 0o600)
}

// of lists the results of a rule's cases.
func (r *Report) of(rule Rule) []Result {
	var list []Result
	for _, result := range r.Results {
		if result.Case.Rule == rule {
			list = append(list, result)
		}
	}
	return list
}
