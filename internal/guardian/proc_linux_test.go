package guardian

import "testing"

func TestStatNamesMayHoldAnything(t *testing.T) {
	t.Parallel()
	p, err := parseStat([]byte("42 (a) R (b) Z 7 8 9 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 12345678901 0 0"))
	if want := (proc{pid: 42, ppid: 7, pgrp: 8, sid: 9, zombie: true, start: 12345678901}); err != nil || p != want {
		t.Errorf("got %+v, %v; want %+v", p, err, want)
	}
	for _, bad := range []string{"", "42 sh R 1 2 3", "42 (sh) R 1 2", "x (sh) R 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0"} {
		if p, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q gave %+v", bad, p)
		}
	}
}
