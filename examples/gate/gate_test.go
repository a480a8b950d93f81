package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Each tick is run by one server, and the other says why it doesn't.
func TestOneServerRunsEachTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		<-time.After(time.Second) // between two ticks on both clocks
		var out strings.Builder
		if err := run(t.Context(), fmt.Sprint("memory:examples-gate-", rand.Uint64()), &out); err != nil {
			t.Fatal(err)
		}
		ran, refused := map[string]int{}, map[string]int{}
		for line := range strings.Lines(out.String()) {
			tick, rest, _ := strings.Cut(line, ": ")
			switch {
			case strings.Contains(rest, "runs it"):
				ran[tick]++
			case strings.Contains(rest, "does not"):
				refused[tick]++
			default:
				t.Errorf("unexpected: %s", line)
			}
		}
		if len(ran) != 5 || len(refused) != 5 {
			t.Errorf("%d ticks were run and %d refused, want 5 of each:\n%s", len(ran), len(refused), &out)
		}
		for tick, n := range ran {
			if n != 1 || refused[tick] != 1 {
				t.Errorf("tick %s was run %d times and refused %d times:\n%s", tick, n, refused[tick], &out)
			}
		}
	})
}
