package cases

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// row is what the page tells of one id.
type row struct {
	id      string
	cases   []string // conformance cases, by name
	tests   []string // "folder.TestName"
	note    string   // "later" or "out of scope", for what nothing covers
	mutants []string // broken stores and electors of conformance that play the mistake
	byHand  bool     // the mistake was made once by hand
}

// reviewed are ids of which the page also tells how the mistake was put back, and seen.
const reviewed = "DX"

var (
	anyID  = regexp.MustCompile(`\b(DX|EC|PE|R)[1-9][0-9]*\b`)
	wholly = regexp.MustCompile(`^(DX|EC|PE|R)[1-9][0-9]*$`)
)

// readPage reads the rows of all tables.
func readPage(text string) (rows []row, err error) {
	var problems []error
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		id := strings.TrimSpace(cells[0])
		if !strings.HasPrefix(line, "|") || !wholly.MatchString(id) {
			continue
		}
		if seen[id] {
			problems = append(problems, fmt.Errorf("%s: listed twice", id))
		}
		seen[id] = true
		r := row{id: id}
		if err := r.readCells(cells); err != nil {
			problems = append(problems, err)
		}
		rows = append(rows, r)
	}
	return rows, errors.Join(problems...)
}

func (r *row) readCells(cells []string) error {
	want := 3
	if strings.HasPrefix(r.id, reviewed) {
		want = 4
	}
	if len(cells) != want {
		return fmt.Errorf("%s: %d cells, want %d", r.id, len(cells), want)
	}
	err := r.read(strings.TrimSpace(cells[2]))
	if want == 4 {
		err = errors.Join(err, r.readMistakes(strings.TrimSpace(cells[3])))
	}
	return err
}

func (r *row) read(cell string) error {
	for item := range strings.SplitSeq(cell, "; ") {
		note, reason, noted := strings.Cut(item, ": ")
		switch {
		case len(item) > 2 && item[0] == '*' && item[len(item)-1] == '*':
			r.cases = append(r.cases, item[1:len(item)-1])
		case len(item) > 2 && item[0] == '`' && item[len(item)-1] == '`':
			r.tests = append(r.tests, item[1:len(item)-1])
		case noted && reason != "" && (note == "later" || note == "out of scope"):
			r.note = note
		default:
			return fmt.Errorf("%s: %q is no *case*, no `folder.Test`, and neither later nor out of scope", r.id, item)
		}
	}
	return nil
}

func (r *row) readMistakes(cell string) error {
	for item := range strings.SplitSeq(cell, "; ") {
		note, what, noted := strings.Cut(item, ": ")
		switch {
		case len(item) > 2 && item[0] == '*' && item[len(item)-1] == '*':
			r.mutants = append(r.mutants, item[1:len(item)-1])
		case noted && what != "" && note == "by hand":
			r.byHand = true
		case item == "later" && len(r.cases)+len(r.tests) == 0:
			return nil
		default:
			return fmt.Errorf("%s: %q is no *mutant* of conformance and not made by hand", r.id, item)
		}
	}
	return nil
}
