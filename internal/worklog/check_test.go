package worklog

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const (
	first  = 5
	second = 9
)

func at(ms int, k Kind, token int64) Line {
	return Line{At: time.Duration(ms) * time.Millisecond, Kind: k, Token: token, PID: int(token) * 100}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lines []Line
		want  Rule // of the only problem; empty: none
	}{
		{"nobody worked", nil, ""},
		{"a stop between two", []Line{at(1, Start, first), at(2, Beat, first), at(3, Stop, first), at(4, Start, second)}, ""},
		{"a kill between two", []Line{at(1, Start, first), at(2, Beat, first), at(4, Start, second), at(5, Beat, second)}, ""},
		{"a beat after the next began", []Line{at(1, Start, first), at(4, Start, second), at(5, Beat, first)}, Exclusion},
		{"work beside the next", []Line{at(1, Start, first), at(4, Start, second), at(5, Beat, first), at(6, Beat, first), at(7, Stop, first)}, Exclusion},
		{"a late write with an early time", []Line{at(1, Start, first), at(4, Start, second), at(3, Beat, first)}, Exclusion},
		{"an early start with a late write", []Line{at(1, Start, first), at(5, Stop, first), at(4, Start, second)}, Exclusion},
		{"a token that falls", []Line{at(1, Start, second), at(2, Stop, second), at(4, Start, first)}, Tokens},
		{"a token used twice", []Line{at(1, Start, first), {At: 9e9, Kind: Start, Token: first, PID: 1}}, Tokens},
		{"work after stop", []Line{at(1, Start, first), at(2, Stop, first), at(3, Beat, first)}, Order},
		{"work before start", []Line{at(1, Beat, first)}, Order},
		{"time that goes back", []Line{at(2, Start, first), at(1, Beat, first)}, Order},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			problems := Check(c.lines).Problems
			if c.want == "" && len(problems) > 0 || c.want != "" && (len(problems) != 1 || problems[0].Rule != c.want) {
				t.Errorf("problems are %v, want %q", problems, c.want)
			}
		})
	}
}

func TestStartTwiceInOneTerm(t *testing.T) {
	t.Parallel()
	if err := Check([]Line{at(1, Start, first), at(2, Stop, first), at(3, Start, first)}).Err(); err == nil || !strings.Contains(err.Error(), "starts twice") {
		t.Errorf("got %v", err)
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	r := Check([]Line{at(1, Start, first), at(3, Stop, first), at(10, Start, second), at(11, Start, second+1)})
	if o := r.LongestOverlap(); o != 0 {
		t.Errorf("the overlap is %v", o)
	}
	if o := Check([]Line{at(1, Start, first), at(4, Start, second), at(6, Beat, first), at(7, Beat, second)}).LongestOverlap(); o != 2*time.Millisecond {
		t.Errorf("the overlap is %v", o)
	}
	if want := []time.Duration{7 * time.Millisecond, time.Millisecond}; !reflect.DeepEqual(r.Gaps(), want) || r.LongestGap() != want[0] {
		t.Errorf("gaps are %v", r.Gaps())
	}
}

func TestReadGivesWhatWasWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if lines, err := Read(path); lines != nil || err != nil {
		t.Errorf("without a file: %v, %v", lines, err)
	}
	l, err := Open(path, first)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Work(canceled(t), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	lines, err := Read(path)
	if err != nil || len(lines) < 2 || lines[0].Kind != Start || lines[len(lines)-1].Kind != Stop || lines[0].Token != first {
		t.Errorf("got %v, %v", lines, err)
	}
	if err := Check(lines).Err(); err != nil {
		t.Error(err)
	}
}

func TestParseRefusesOtherText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "start", "1 start token=2", "1 start token=2 pid=3 more", "x start token=2 pid=3"} {
		if l, err := Parse(text); err == nil {
			t.Errorf("%q was read as %v", text, l)
		}
	}
}
