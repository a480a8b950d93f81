package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/worklog"
)

// term is the work of one leader: start, a beat each 100 ms, and stop if it wasn't killed.
type term struct {
	token     int64
	from, to  time.Duration
	wasKilled bool
}

func lines(terms ...term) (all []worklog.Line) {
	for _, t := range terms {
		line := worklog.Line{At: t.from, Kind: worklog.Start, Token: t.token, PID: int(t.token)}
		all = append(all, line)
		for line.Kind = worklog.Beat; line.At+100*time.Millisecond < t.to; {
			line.At += 100 * time.Millisecond
			all = append(all, line)
		}
		if !t.wasKilled {
			line.At, line.Kind = t.to, worklog.Stop
			all = append(all, line)
		}
	}
	return all
}

const sec = time.Second

func good() []term {
	return []term{{10, 1 * sec, 4 * sec, true}, {20, 6 * sec, 9 * sec, false}, {30, 9*sec + sec/10, 12 * sec, false}}
}

func TestTheCheckerFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(terms []term) []term
		want   string // in the only complaint; empty: none
	}{
		{"nothing", func(terms []term) []term { return terms }, ""},
		{"two at work", func(terms []term) []term { terms[2].from = 8*sec + 995*sec/1000; return terms }, "two at work"},
		{"a token that falls", func(terms []term) []term { terms[2].token = 15; return terms }, "token 15 of process 15 comes after token 20 of process 20"},
		{"a long gap", func(terms []term) []term { terms[1].from += 2 * sec; return terms }, "gap too long: nobody was at work for 4.1s, at most 3s are allowed"},
		{"two terms", func([]term) []term {
			return []term{{10, 1 * sec, 4 * sec, true}, {20, 6 * sec, 9 * sec, false}}
		}, "too few terms: 2, at least 3 are expected; no hand-over: nobody worked after one that stopped by itself"},
		{"no kill", func(terms []term) []term { terms[0].wasKilled = false; return terms }, "no take-over"},
		{"no hand-over", func(terms []term) []term { terms[1].wasKilled = true; return terms }, "no hand-over"},
		{"nobody worked", func([]term) []term { return nil }, "too few terms: 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := check(lines(c.change(good())...))
			got := strings.Join(v.complaints(), "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("complaints are %q, want %q", got, c.want)
			}
		})
	}
}

func TestOnlyAGapInWhichTheMachineStalledSpoilsARun(t *testing.T) {
	t.Parallel()
	late := good()
	late[1].from += 2 * sec // so nobody is at work from 3.9 s to 8 s
	inside, outside := stall{5 * sec, 6 * sec}, stall{9 * sec, 10 * sec}
	for _, c := range []struct {
		name    string
		terms   []term
		stalls  []stall
		problem string
		want    bool
	}{
		{"a gap and a stall in it", late, []stall{outside, inside}, "", true},
		{"a gap and a stall elsewhere", late, []stall{outside}, "", false},
		{"a gap and no stall", late, nil, "", false},
		{"a stall and no gap", good(), []stall{inside}, "", false},
		{"a gap, a stall and something else", late, []stall{inside}, "no hand-over", false},
	} {
		v := check(lines(c.terms...))
		v.stalls = c.stalls
		if c.problem != "" {
			v.missing = append(v.missing, c.problem)
		}
		if v.spoiled() != c.want {
			t.Errorf("%s: spoiled is %v", c.name, v.spoiled())
		}
	}
}

func TestTheVerdictIsPrinted(t *testing.T) {
	t.Parallel()
	v := check(lines(good()...))
	v.names = map[int]string{10: "ada", 20: "bob", 30: "cyd"}
	v.stalls = []stall{{0, sec / 5}, {sec, 2 * sec}}
	expect(t, printed(v), "ada  was elected", "bob  take-over, 2.1s", "cyd  hand-over, 100ms", "2 time(s), for 1s", "PASSED", "2.1s at the longest (3s allowed)")

	v.missing = []string{"first", "second"}
	text := printed(v)
	expect(t, text, "FAILED: 2 finding(s)", "  first", "  second")
	if strings.Contains(text, "PASSED") {
		t.Error(text)
	}
}

func printed(v verdict) string {
	var out bytes.Buffer
	v.print(newScreen(&out))
	return out.String()
}

func expect(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

func TestTheJudgeReadsAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "worklog")
	var text strings.Builder
	for _, l := range lines(good()...) {
		text.WriteString(l.String() + "\n")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := judge(path)
	if err != nil || len(v.complaints()) > 0 || len(v.Shifts) != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	if err := os.WriteFile(path, []byte("something else\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := judge(path); err == nil {
		t.Error("a file that is no work log was judged")
	}
}

func TestALeaderThatDoesNothingIsAGap(t *testing.T) {
	t.Parallel()
	all := lines(good()...)
	all[len(all)-1].At += 4 * sec // its last line but one is 100 ms before
	v := check(all)
	if got := v.complaints(); len(got) != 1 || !strings.HasPrefix(got[0], "gap too long: nobody was at work for 4.1s") {
		t.Errorf("complaints are %q", got)
	}
}
