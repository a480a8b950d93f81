package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenure-go/tenure/conformance"
)

// columns are the targets of the table, by the names that the stores' tests give them.
var columns = []string{
	"memory", "SQLite", "Redis", "Redis Sentinel", "Redis Cluster", "etcd", "etcd ×3", "Postgres", "PgBouncer", "Consul", "Consul ×3",
}

// report is what the table needs of a report file.
type report struct {
	Target string
	Rules  []struct {
		Slug, Title string
		Outcome     conformance.Outcome
		Cases       []struct {
			Name, Reason string
			Outcome      conformance.Outcome
		}
	}
}

func read(folder string) (map[string]report, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	reports := make(map[string]report)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var r report
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		reports[r.Target] = r
	}
	return reports, nil
}

// table has a row per rule and a column per target.
type table struct {
	reports []report // in the order of columns
}

func newTable(reports map[string]report) (*table, error) {
	t := new(table)
	var missing []string
	for _, c := range columns {
		r, there := reports[c]
		if !there {
			missing = append(missing, c)
		}
		t.reports = append(t.reports, r)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("there is no report of %s: were their tests skipped?", strings.Join(missing, ", "))
	}
	return t, nil
}

func (t *table) text() string {
	return conformance.MatrixOf(columns, func(column int, rule conformance.Rule) conformance.Outcome {
		for _, r := range t.reports[column].Rules {
			if r.Slug == rule.Slug {
				return r.Outcome
			}
		}
		return conformance.Untested
	})
}

// undecided stands for a cell that this run could not decide: the machine was too slow.
const undecided = string(conformance.Undecided)

// violations lists what no release may have.
func (t *table) violations() []string {
	var list []string
	for _, r := range t.reports {
		for _, rule := range r.Rules {
			for _, c := range rule.Cases {
				if c.Outcome == conformance.Violated {
					list = append(list, fmt.Sprintf("%s: %s VIOLATED: %s", r.Target, rule.Slug, c.Name))
				}
			}
		}
	}
	return list
}

const (
	begin = "<!-- conformance: written by make conformance-readme -->\n"
	end   = "<!-- /conformance -->"
)

// part finds the table in a file.
func part(file string) (before, table, after string, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", "", err
	}
	before, rest, found := strings.Cut(string(b), begin)
	table, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", "", "", fmt.Errorf("%s has no place for the table, between %q and %q", file, strings.TrimSpace(begin), end)
	}
	return before, table, after, nil
}

// check compares the table in a file with this one, cell by cell. What this run could not decide contradicts nothing.
func (t *table) check(file string) error {
	_, have, _, err := part(file)
	if err != nil {
		return err
	}
	was, is := strings.Split(strings.TrimSpace(have), "\n"), strings.Split(strings.TrimSpace(t.text()), "\n")
	var errs []error
	for i := range max(len(was), len(is)) {
		a, b := line(was, i), line(is, i)
		if !slices.EqualFunc(a, b, func(x, y string) bool { return x == y || strings.TrimSpace(y) == undecided }) {
			errs = append(errs, fmt.Errorf("%s is stale, run make conformance-readme:\n  has   %s\n  is    %s", file, strings.Join(a, "|"), strings.Join(b, "|")))
		}
	}
	return errors.Join(errs...)
}

func line(lines []string, i int) []string {
	if i >= len(lines) {
		return nil
	}
	return strings.Split(lines[i], "|")
}

func (t *table) write(file string) error {
	before, _, after, err := part(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(before+begin+t.text()+end+after), 0o644)
}
