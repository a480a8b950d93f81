package guardian

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary plays all parts: guardian, wrapper and command.
func TestMain(m *testing.M) {
	switch {
	case IsGuardian(os.Args) && len(os.Args) > 2:
		os.Exit(serve(bootFrom(os.Args[2])))
	case IsGuardian(os.Args):
		os.Exit(Main())
	case len(os.Args) > 2 && os.Args[1] == "__wrapper":
		os.Exit(wrapperMain(os.Args[2]))
	case len(os.Args) > 2 && os.Args[1] == "__child":
		os.Exit(childMain(os.Args[2:]))
	}
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else each process of a race test ends 1 s late
	}
	goleak.VerifyTestMain(m)
}
