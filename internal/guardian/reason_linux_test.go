package guardian

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// The wrapper kills the command itself when a kill is due. The guardian may notice the command's end before it has read why, and then reports that it ended by itself; that
// made a wrapper exit which had only lost its lease.
func TestAKillInTheGuardiansPlaceIsNoEndOfTheCommandsOwn(t *testing.T) {
	t.Parallel()
	guardian := exec.CommandContext(t.Context(), "sleep", "3600") // a process without children
	if err := guardian.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = guardian.Process.Kill()
		_ = guardian.Wait()
	}()
	killed := &report{verb: "ended", code: 137, signal: syscall.SIGKILL, reason: Exited}
	left := &report{verb: "ended", code: 3, reason: Exited}
	for _, tt := range []struct {
		what   string
		told   bool
		final  *report
		reason Reason
	}{
		{"killed by us", true, killed, Stopped},
		{"killed by a stranger", false, killed, Exited},
		{"ended by itself before our kill", true, left, Exited},
	} {
		c := &Child{boot: func() BootTime { return 100 }, plan: newPlan(1000, 2000), guardian: guardian}
		if tt.told {
			c.plan.end(100, Stopped, 0)
			c.enforce(time.Time{})
		}
		if got := c.exitOf(tt.final).Reason; got != tt.reason {
			t.Errorf("%s: the reason is %q, want %q", tt.what, got, tt.reason)
		}
	}
}
