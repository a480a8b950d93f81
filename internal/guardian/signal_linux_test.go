package guardian

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestSignalsAreForwarded(t *testing.T) {
	t.Parallel()
	s, life := spec(t, child("trap")...)
	c := begin(t, s)
	life.next(t, "ready")
	for _, sig := range forwarded {
		if err := c.Signal(sig); err != nil {
			t.Fatal(err)
		}
		life.next(t, "got "+sig.String())
	}
}

func TestSignalRefusesWhatIsNotForwarded(t *testing.T) {
	t.Parallel()
	var c Child
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGSTOP} {
		if err := c.Signal(sig); err == nil {
			t.Errorf("%v was taken", sig)
		}
	}
}

// Who ends all processes of a name or of a service hits the guardian, too.
func TestGuardianLeavesSignalsToTheWrapper(t *testing.T) {
	t.Parallel()
	s, life := spec(t, child("trap")...)
	c := begin(t, s)
	life.next(t, "ready")
	g := see(t, c.GuardianPid())
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2} {
		g.send(t, sig)
	}
	ping(t, c, life)
	c.Stop(far)
	if e := await(t, c); e.Reason != Stopped {
		t.Errorf("got %+v", e)
	}
}

// What the guardian catches must not be ignored in the command, and what the
// wrapper was told to ignore must be.
func TestCommandIgnoresTheSignalsThatTheWrapperIgnores(t *testing.T) {
	t.Parallel()
	s, life := spec(t, "grep", "SigIgn", "/proc/self/status")
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(own), "SigIgn:\t") // under nohup it is not zero
	want, _, _ = strings.Cut(want, "\n")
	await(t, begin(t, s))
	if got := life.next(t, "SigIgn:\t"); got != want {
		t.Errorf("ignored in the command: %s, want %s", got, want)
	}
}
