package guardian

import (
	"math"
	"testing"
	"time"
)

func TestPlanTermsOnceAtTheSoftAndKillsAtTheHardDeadline(t *testing.T) {
	t.Parallel()
	p := newPlan(100, 200)
	for _, c := range []struct {
		now   BootTime
		want  step
		cause Reason
	}{
		{99, stepNone, ""},
		{100, stepTerm, SoftDeadline},
		{101, stepNone, SoftDeadline},
		{199, stepNone, SoftDeadline},
		{200, stepKill, HardDeadline},
	} {
		if got := p.due(c.now); got != c.want || p.cause != c.cause {
			t.Errorf("due(%d) = %d, cause %q; want %d, %q", c.now, got, p.cause, c.want, c.cause)
		}
	}
}

func TestPlanDeadlinesOnlyMoveForward(t *testing.T) {
	t.Parallel()
	p := newPlan(100, 200)
	p.extend(50, 80, 150)
	if p.soft != 100 || p.hard != 200 {
		t.Errorf("an earlier deadline moved it back to %d, %d", p.soft, p.hard)
	}
	p.extend(50, 300, 250)
	if p.soft != 300 || p.hard != 300 {
		t.Errorf("got %d, %d; the hard deadline must not be before the soft one", p.soft, p.hard)
	}
}

func TestPlanIsNotRevivedAfterADeadline(t *testing.T) {
	t.Parallel()
	for _, now := range []BootTime{100, 150, 200, 999} {
		p := newPlan(100, 200)
		p.extend(now, 5000, 6000)
		if p.soft != 100 || p.hard != 200 {
			t.Errorf("a message at %d moved the deadlines to %d, %d", now, p.soft, p.hard)
		}
	}
}

func TestPlanStopEndsAtTheGraceOrTheHardDeadline(t *testing.T) {
	t.Parallel()
	p := newPlan(100, 200)
	p.end(10, Stopped, 40)
	for now, want := range map[BootTime]step{10: stepTerm, 50: stepKill} {
		q := p
		if got := q.due(now); got != want || q.cause != Stopped {
			t.Errorf("due(%d) = %d, cause %q; want %d", now, got, q.cause, want)
		}
	}
	p.extend(20, 500, 600) // the lease may be renewed while the command finishes
	if p.hard != 600 {
		t.Errorf("hard = %d after a renewal during Stop, want 600", p.hard)
	}
	p.end(20, Stopped, time.Hour)
	if p.cutoff != 50 {
		t.Errorf("a second Stop moved the end of the grace to %d", p.cutoff)
	}
	q := newPlan(100, 200)
	q.end(10, Stopped, math.MaxInt64)
	if got := q.due(200); got != stepKill || q.cause != HardDeadline {
		t.Errorf("due(200) = %d, cause %q with an endless grace", got, q.cause)
	}
}

func TestPlanLooksAtTheClockOften(t *testing.T) {
	t.Parallel()
	const second = BootTime(time.Second)
	p := newPlan(100*second, 200*second)
	for now, want := range map[BootTime]time.Duration{
		0:                         lookEvery,
		100*second - 20_000_000:   20 * time.Millisecond,
		100 * second:              lookEvery,
		199*second + 950_000_000:  50 * time.Millisecond,
		1000 * second:             shortest,
		math.MaxInt64:             shortest,
		200*second - BootTime(10): shortest,
	} {
		if got := p.nap(now); got != want {
			t.Errorf("nap(%d) = %v, want %v", now, got, want)
		}
	}
}

func TestBootTimeAddStopsAtTheEnds(t *testing.T) {
	t.Parallel()
	if got := BootTime(5).Add(math.MaxInt64); got != never {
		t.Errorf("5 + max = %d", got)
	}
	if got := BootTime(-5).Add(math.MinInt64); got != math.MinInt64 {
		t.Errorf("-5 + min = %d", got)
	}
}
