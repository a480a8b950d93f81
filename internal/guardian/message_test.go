package guardian

import (
	"syscall"
	"testing"
)

func TestMessagesSurviveThePipe(t *testing.T) {
	t.Parallel()
	for _, o := range []order{
		{verb: "deadline", soft: 1, hard: never},
		{verb: "signal", signal: syscall.SIGUSR1},
		{verb: "stop", grace: 5},
	} {
		if got, err := parseOrder(o.line()); err != nil || got != o {
			t.Errorf("%q became %+v, %v", o.line(), got, err)
		}
	}
	for _, r := range []report{
		{verb: "started", pid: 7},
		{verb: "failed", code: 127, msg: "no such \"file\"\nat all"},
		{verb: "failed", code: 0},
		{verb: "ended", code: 137, signal: 9, reason: HardDeadline},
	} {
		if got, err := parseReport(r.line()); err != nil || got != r {
			t.Errorf("%q became %+v, %v", r.line(), got, err)
		}
	}
}

func TestMessagesThatMakeNoSenseAreErrors(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "deadline", "deadline 1", "deadline x 2", "signal", "stop soon", "hello"} {
		if o, err := parseOrder(line); err == nil {
			t.Errorf("order %q gave %+v", line, o)
		}
	}
	for _, line := range []string{"", "started", "started x", "ended 1", "failed 1 x", "bye"} {
		if r, err := parseReport(line); err == nil {
			t.Errorf("report %q gave %+v", line, r)
		}
	}
}
