package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// output is one file to which all candidates append: the kernel puts their lines into one order, which no clock could do better.
type output struct {
	t    *testing.T
	file *os.File
}

func newOutput(t *testing.T) *output {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &output{t, f}
}

func (o *output) text() string {
	o.t.Helper()
	text, err := os.ReadFile(o.file.Name())
	if err != nil {
		o.t.Fatal(err)
	}
	return string(text)
}

// line is what a candidate has printed: a unit of work, or the end of a term.
type line struct {
	name  string
	token int64
	n     int // of the unit; zero: the end
}

func parse(text string) (l line, err error) {
	if _, err := fmt.Sscanf(text, "%s works under token %d: %d", &l.name, &l.token, &l.n); err == nil {
		return l, nil
	}
	_, err = fmt.Sscanf(text, "%s ends token %d:", &l.name, &l.token)
	l.n = 0
	return l, err
}

// awaitWork waits for work under a token above floor.
func (o *output) awaitWork(floor int64) line {
	o.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for text := range strings.Lines(o.text()) {
			if l, err := parse(text); err == nil && l.n > 0 && l.token > floor && strings.HasSuffix(text, "\n") {
				return l
			}
		}
		select {
		case <-tick.C:
		case <-deadline:
			o.t.Fatalf("nobody has worked under a token above %d; there is\n%s", floor, o.text())
		}
	}
}

// oneAtATime judges the lines: a token belongs to one candidate, whose work is counted from 1 without a gap; a term begins under a greater token than all before; once
// another has begun, or the term has ended, no work is done under its token any more.
func oneAtATime(lines []string) error {
	var now line
	ended := true
	for i, text := range lines {
		l, err := parse(text)
		if err != nil {
			return fmt.Errorf("line %d is no work: %q", i+1, text)
		}
		switch begins := l.n == 1; {
		case begins && l.token <= now.token:
			return fmt.Errorf("line %d: a term under token %d after one under %d", i+1, l.token, now.token)
		case begins:
			ended = false
		case l.name != now.name || l.token != now.token:
			return fmt.Errorf("line %d: %s is at work under token %d in the term of %s under %d", i+1, l.name, l.token, now.name, now.token)
		case ended:
			return fmt.Errorf("line %d: work under token %d after its end", i+1, l.token)
		case l.n == 0:
			ended = true
			continue
		case l.n != now.n+1:
			return fmt.Errorf("line %d: unit %d after unit %d", i+1, l.n, now.n)
		}
		now = l
	}
	return nil
}

// The judge can say no.
func TestTwoLeadersAreFound(t *testing.T) {
	good := []string{"a works under token 3: 1", "a works under token 3: 2", "a ends token 3: elector: resigned", "b works under token 4: 1", "c works under token 7: 1"}
	if err := oneAtATime(good); err != nil {
		t.Errorf("a good run: %v", err)
	}
	for what, bad := range map[string]string{
		"two at once":            "b works under token 4: 2",
		"work after the end":     "a works under token 3: 3",
		"a token twice":          "d works under token 7: 1",
		"a lower token":          "d works under token 5: 1",
		"another's token":        "d works under token 7: 2",
		"a unit lost":            "c works under token 7: 3",
		"something else printed": "c panics",
	} {
		if err := oneAtATime(append(slices.Clip(good), bad)); err == nil {
			t.Errorf("%s was not found", what)
		}
	}
	if err := oneAtATime(append(slices.Clip(good[:3]), "a works under token 3: 3")); err == nil {
		t.Error("work after the end was not found")
	}
}
