package guardian

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// spec runs a command with this process as the wrapper. Tests in which the
// guardian is lost start a wrapper process instead: this one has children in
// other sessions, which the search for strays would kill.
func spec(t *testing.T, args ...string) (Spec, line) {
	t.Helper()
	l, w := newLine(t)
	now := Now()
	return Spec{Args: args, Stdout: w, Soft: now.Add(far), Hard: now.Add(far), stall: patience}, l
}

func begin(t *testing.T, s Spec) *Child {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := Start(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if s.Stdout != nil {
		s.Stdout.Close()
	}
	t.Cleanup(func() {
		c.Stop(0)
		c.Wait()
	})
	return c
}

func await(t *testing.T, c *Child) Exit {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatalf("the command did not end within %v", patience)
	}
	return c.Wait()
}

func TestExitIsTheCommandsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want Exit
	}{
		{[]string{"exit", "0"}, Exit{Code: 0, Reason: Exited}},
		{[]string{"exit", "7"}, Exit{Code: 7, Reason: Exited}},
		{[]string{"kill-self", "9"}, Exit{Code: 137, Signal: syscall.SIGKILL, Reason: Exited}},
		{[]string{"kill-self", "15"}, Exit{Code: 143, Signal: syscall.SIGTERM, Reason: Exited}},
	} {
		t.Run(strings.Join(c.args, "-"), func(t *testing.T) {
			t.Parallel()
			s, life := spec(t, child(c.args...)...)
			if got := await(t, begin(t, s)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			life.rest(t)
		})
	}
}

func TestCommandThatCantRunHasTheShellsCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, want := range map[string]int{
		"no-such-command-anywhere":                   127,
		filepath.Join(dir, "missing"):                127,
		write("plain", "x", 0o600):                   126,
		write("noformat", "x", 0o700):                126,
		write("orphan", "#!/no/such/program", 0o700): 127,
		dir: 126,
	} {
		s, _ := spec(t, name, "arg")
		_, err := Start(t.Context(), s)
		var e *ExecError
		if !errors.As(err, &e) || e.Code != want || e.Name != name {
			t.Errorf("%s: %v (%+v), want code %d", name, err, e, want)
		}
	}
}

func TestStartRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Spec{Soft: 5})
	for _, part := range []string{"Spec.Args", "Spec.Hard", "Spec.Soft"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v says nothing about %s", err, part)
		}
	}
	s, _ := spec(t, "true")
	s.Dir = "/no/such/dir"
	if _, err := Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "/no/such/dir") {
		t.Errorf("a missing directory gave %v", err)
	}
}

func TestStartAfterTheDeadlineRunsNothing(t *testing.T) {
	t.Parallel()
	s, life := spec(t, child("wait")...)
	s.Soft = Now()
	if _, err := Start(t.Context(), s); !errors.Is(err, ErrDeadlinePassed) {
		t.Errorf("got %v", err)
	}
	s.Stdout.Close()
	if out := life.rest(t); out != "" {
		t.Errorf("the command wrote %q", out)
	}
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	news, life, _ := runWrapper(t, script{Args: child("stubborn"), Soft: far, Hard: far, Cancel: true})
	if got := news.next(t, "error"); !strings.Contains(got, "changed my mind") {
		t.Errorf("got %s", got)
	}
	life.rest(t)
}

func TestStartWithoutAGuardianInTheBinarySaysSo(t *testing.T) {
	t.Parallel()
	news, life, _ := runWrapper(t, script{Args: child("stubborn"), Soft: far, Hard: far, Self: []string{"/bin/true"}})
	if got := news.next(t, "error"); got != ErrGuardianLost.Error() {
		t.Errorf("got %s", got)
	}
	life.rest(t)
}

func TestGuardianByHandIsRefused(t *testing.T) {
	t.Parallel()
	l, w := newLine(t)
	p, err := os.StartProcess("/proc/self/exe", []string{"x", Subcommand}, &os.ProcAttr{Files: []*os.File{nil, nil, w}})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	l.next(t, Subcommand+" is internal")
	if st, err := p.Wait(); err != nil || st.ExitCode() != 64 {
		t.Errorf("got %v, %v", st, err)
	}
}
