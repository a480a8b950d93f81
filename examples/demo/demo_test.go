package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/worklog"
)

// asDemo tells the test binary to be the demo: the candidates that a test starts inherit it.
const asDemo = "TENURE_TEST_AS_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(asDemo) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func needProcesses(t *testing.T) {
	t.Helper()
	if _, ok := clock.Boot(); !ok {
		t.Skip("the demo needs Linux or macOS")
	}
}

// demoCommand is the demo as a process of its own. Its temporary files go to folder.
func demoCommand(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	needProcesses(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asDemo+"=1", "TMPDIR="+folder)
	return cmd
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit == nil {
		return 0
	}
	return exit.ExitCode()
}

func expectEmpty(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

func TestTheDemoPassesAndLeavesNothing(t *testing.T) { //nolint:paralleltest // the environment is the process's
	needProcesses(t)
	folder := t.TempDir()
	t.Setenv(asDemo, "1")
	t.Setenv("TMPDIR", folder)
	var out bytes.Buffer
	if code := demo(t.Context(), []string{"-quick"}, &out); code != 0 {
		t.Errorf("exit status %d", code)
	}
	t.Log(out.String())
	expect(t, out.String(), "Three processes share one SQLite file", "settled invoices 1 to 5: 540.73 EUR", "SIGKILL to", "is killed (lease", "is started again", "SIGTERM to", "LEADS",
		"take-over, ", "hand-over, ", "PASSED")
	if n := strings.Count(out.String(), "leads under token"); n < minTerms {
		t.Errorf("%d terms were shown", n)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("there are control sequences in a log")
	}
	expectEmpty(t, folder)
}

// This shows that the check can fail.
func TestACheatIsFound(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	out, err := demoCommand(t, folder, "-quick", "-cheat").CombinedOutput()
	if code := exitCode(t, err); code != 1 {
		t.Errorf("exit status %d", code)
	}
	expect(t, string(out), "eve  cheats", "eve  is refused by the ledger", "FAILED", "two at work: token 1")
	expectEmpty(t, folder)
}

func TestCtrlCEndsEverything(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := demoCommand(t, folder)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
		text.WriteString(scanner.Text() + "\n")
		if strings.Contains(scanner.Text(), "settled invoices 1 to") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	if code := exitCode(t, cmd.Wait()); code != 130 {
		t.Errorf("exit status %d", code)
	}
	expect(t, text.String(), "stops working: elector: resigned", "Ended by signal: interrupt. All candidates have ended.")
	expectEmpty(t, folder)
}

// The standard input of a candidate ends when the demo has been killed.
func TestACandidateEndsWithTheDemo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := demoCommand(t, folder, asCandidate, "ada", folder)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(stdout)
	if !scanner.Scan() || !strings.HasPrefix(scanner.Text(), "leads under token") {
		t.Errorf("it printed %q", scanner.Text())
	}
	stdin.Close()
	stdout.Close() // nobody reads any more, which must not kill it
	if code := exitCode(t, cmd.Wait()); code != 0 {
		t.Errorf("exit status %d", code)
	}
	all, err := worklog.Read(worklogPath(folder))
	if err != nil || len(all) == 0 || all[len(all)-1].Kind != worklog.Stop {
		t.Errorf("the work log is %v, %v", all, err)
	}
}

func TestACandidateThatCannotRunSaysWhy(t *testing.T) {
	t.Parallel()
	out, err := demoCommand(t, t.TempDir(), asCandidate, "ada", "/dev/null").CombinedOutput()
	if code := exitCode(t, err); code != 1 || !strings.Contains(string(out), "failed: ") {
		t.Errorf("exit status %d, %s", code, out)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]int{"-h": 0, "-nonsense": 2} {
		out, err := demoCommand(t, t.TempDir(), arg).CombinedOutput()
		if code := exitCode(t, err); code != want {
			t.Errorf("%s: exit status %d", arg, code)
		}
		expect(t, string(out), "-cheat", "-quick")
	}
}
