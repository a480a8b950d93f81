package main

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/internal/guardian"
)

// asTenure makes the test binary play the command.
const asTenure = "TENURE_TEST_AS_TENURE"

// The test binary plays all parts: guardian, command under a lease, tenure and the test.
func TestMain(m *testing.M) {
	switch {
	case guardian.IsGuardian(os.Args):
		os.Exit(guardian.Main())
	case len(os.Args) > 2 && os.Args[1] == "__child":
		if err := childMain(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	case os.Getenv(asTenure) != "":
		main()
	}
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") //nolint:errcheck // else each process of a race test ends 1 s late
	}
	goleak.VerifyTestMain(m)
}
