package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
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
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else each process of a race test ends 1 s late
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if build.dir != "" {
			os.RemoveAll(build.dir)
		}
		os.Exit(code)
	}))
}

// build is tenure as users have it.
var build struct {
	once sync.Once
	dir  string
	err  error
}

// released is a setting that runs tenure as users have it: the test binary takes longer to start than all that is measured.
func released(t testing.TB, store string) setting {
	t.Helper()
	if underRace {
		return setting{store: store}
	}
	build.once.Do(func() {
		if build.dir, build.err = os.MkdirTemp("", "tenure-"); build.err != nil { //nolint:usetesting // it outlives the test that needs it first
			return
		}
		out, err := exec.Command("go", "build", "-o", build.dir+"/tenure", ".").CombinedOutput()
		if err != nil {
			build.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if build.err != nil {
		t.Fatal(build.err)
	}
	return setting{store: store, binary: build.dir + "/tenure"}
}
