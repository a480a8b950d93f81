package silence

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOnlyTheSameSignIsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Watch[int]
		check := func(election string, sign int, want time.Duration) {
			t.Helper()
			if got := w.Saw(election, sign); got != want {
				t.Errorf("%s with sign %d has been silent for %v, want %v", election, sign, got, want)
			}
		}
		check("a", 1, 0)
		<-time.After(time.Second)
		check("a", 1, time.Second)
		check("b", 1, 0)
		<-time.After(time.Second)
		check("a", 1, 2*time.Second)
		check("a", 2, 0)
		check("a", 1, 0) // a sign that comes back is a new one
		<-time.After(time.Second)
		check("b", 1, 2*time.Second)
		w.Forget("b")
		check("b", 1, 0)
	})
}

// DX7, PE33: a step of the challenger's wall clock ends no lease. Nobody can step it for one test, so look that what is kept still has its monotonic reading, which Sub prefers.
func TestSilenceIsMeasuredOnTheMonotonicClock(t *testing.T) {
	var w Watch[int]
	w.Saw("a", 1)
	if since := w.seen["a"].since.String(); !strings.Contains(since, " m=") {
		t.Errorf("since is %s, without a monotonic reading", since)
	}
}
