package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestElapsedCountsSuspendAndNotAStep(t *testing.T) {
	from := Reading{Mono: 100, Boot: 1000, Wall: 5000, HasBoot: true}
	cases := []struct {
		name string
		to   Reading
		want time.Duration
	}{
		{"all agree", Reading{Mono: 110, Boot: 1010, Wall: 5010, HasBoot: true}, 10},
		{"suspend", Reading{Mono: 110, Boot: 1070, Wall: 5070, HasBoot: true}, 70},
		{"the wall clock was set forward", Reading{Mono: 110, Boot: 1010, Wall: 9999, HasBoot: true}, 10},
		{"the wall clock was set back", Reading{Mono: 110, Boot: 1010, Wall: 1, HasBoot: true}, 10},
		{"no boot clock, wall ahead", Reading{Mono: 110, Wall: 5070}, 70},
		{"no boot clock, wall behind", Reading{Mono: 110, Wall: 1}, 10},
	}
	for _, c := range cases {
		start := from
		if !c.to.HasBoot {
			start.Boot, start.HasBoot = 0, false
		}
		if got := Elapsed(start, c.to); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
		mono, wall, boot, ok := c.to.Mono, c.to.Wall, c.to.Boot, c.to.HasBoot
		s := Source{Sample: func() (int64, int64) { return mono, wall }, Boot: func() (int64, bool) { return boot, ok }}
		if got := s.Since(start, 5); got != c.want {
			t.Errorf("%s: the fast path says %d, want %d", c.name, got, c.want)
		}
	}
}

// Within the tolerance the fast path takes the greater of the two clocks and makes no system call.
func TestSinceIsFastWhileTheClocksAgree(t *testing.T) {
	s := Source{
		Sample: func() (int64, int64) { return 100, 104 },
		Boot:   func() (int64, bool) { t.Error("the boot clock was read"); return 0, true },
	}
	if got := s.Since(Reading{HasBoot: true}, 5); got != 104 {
		t.Errorf("got %d", got)
	}
}

func TestEarlierMovesAllClocks(t *testing.T) {
	r := Reading{Mono: 10, Boot: 20, Wall: 30, HasBoot: true}
	if got := Elapsed(r.Earlier(7), r); got != 7 {
		t.Errorf("got %d", got)
	}
	if got := Jump(r, Reading{Mono: 11, Boot: 21, Wall: 33}); got != 2 {
		t.Errorf("got %d", got)
	}
}

func TestTheMachinesClocksGoForwardTogether(t *testing.T) {
	s := New()
	a := s.Read()
	<-time.After(5 * time.Millisecond)
	b := s.Read()
	if d := Elapsed(a, b); d < 5*time.Millisecond || s.Since(a, time.Second) < d {
		t.Errorf("5 ms took %v", d)
	}
}

func TestAClockOfABubbleIsTheBubbles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		a := s.Read()
		<-time.After(time.Hour)
		if d := Elapsed(a, s.Read()); d != time.Hour {
			t.Errorf("an hour took %v", d)
		}
	})
}
