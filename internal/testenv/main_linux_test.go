package testenv

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// helperVariable makes the test binary play a test process that is killed: see TestServerDiesWithItsTestProcess.
const helperVariable = "TENURE_TESTENV_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}

// fake stands for the test that asks for a server. It records how the test would have ended.
type fake struct {
	testing.TB
	failed, skipped string
	errors          []string
	cleanups        []func()
}

// ended is what fake panics with where a test would stop.
type ended struct{}

func (*fake) Context() context.Context       { return context.Background() }
func (*fake) Helper()                        {}
func (*fake) Name() string                   { return "TestFake" }
func (*fake) Logf(string, ...any)            {}
func (f *fake) Cleanup(fn func())            { f.cleanups = append(f.cleanups, fn) }
func (f *fake) Failed() bool                 { return f.failed != "" || len(f.errors) > 0 }
func (f *fake) Fatal(args ...any)            { f.failed = fmt.Sprint(args...); panic(ended{}) }
func (f *fake) Skip(args ...any)             { f.skipped = fmt.Sprint(args...); panic(ended{}) }
func (f *fake) Fatalf(s string, args ...any) { f.Fatal(fmt.Sprintf(s, args...)) }
func (f *fake) Errorf(s string, args ...any) { f.errors = append(f.errors, fmt.Sprintf(s, args...)) }

// run calls what a test would do and then its cleanups.
func (f *fake) run(test func()) {
	defer func() {
		if r := recover(); r != nil && r != (ended{}) {
			panic(r)
		}
		for len(f.cleanups) > 0 {
			last := f.cleanups[len(f.cleanups)-1]
			f.cleanups = f.cleanups[:len(f.cleanups)-1]
			last()
		}
	}()
	test()
}

// running reports whether a process is there and is no zombie.
func running(pid int) bool {
	state, _ := stat(pid)
	return state != "" && state != "Z"
}

// firstLine reads one line of a helper process.
func firstLine(r *bufio.Reader, prefix string) (string, error) {
	for {
		line, err := r.ReadString('\n')
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest), nil
		}
		if err != nil {
			return "", err
		}
	}
}
