package clock_test

import (
	"runtime"
	"testing"

	"github.com/tenure-go/tenure/internal/clock"
)

func TestBootNeverGoesBack(t *testing.T) {
	t.Parallel()
	last, ok := clock.Boot()
	if want := runtime.GOOS == "linux" || runtime.GOOS == "darwin"; ok != want {
		t.Fatalf("Boot: ok = %v on %s, want %v", ok, runtime.GOOS, want)
	}
	for range 1000 {
		now, _ := clock.Boot()
		if now < last {
			t.Fatalf("boot clock went back from %d to %d", last, now)
		}
		last = now
	}
}
