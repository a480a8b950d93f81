//go:build linux || darwin

package guardian

import (
	"bufio"
	"errors"
	"os"
	"syscall"
	"time"
)

// stallGrace is how long a guardian may take to report after a deadline, while
// the wrapper already kills, before it counts as stalled.
const stallGrace = time.Second

// readReports passes reports on until the guardian has closed its end, which
// it does by ending.
func readReports(status *os.File) <-chan report {
	c := make(chan report)
	go func() {
		defer close(c)
		defer status.Close()
		for r := bufio.NewReader(status); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if m, err := parseReport(line); err == nil {
				c <- m
			}
		}
	}()
	return c
}

// watch is the wrapper's loop. It ends after the guardian.
func (c *Child) watch(reports <-chan report) {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	var overdue time.Time // since when the guardian should have reported
	for {
		select {
		case r, ok := <-reports:
			switch {
			case !ok:
				c.bury()
				return
			case r.verb == "started":
				c.pid = r.pid
				close(c.started)
			default:
				c.finish(&r)
				_ = c.guardian.Process.Kill() // it has nothing left to do, not even if it is frozen
			}
		case <-timer.C:
			if !c.ended() {
				overdue = c.enforce(overdue)
			}
			timer.Reset(c.nap(overdue))
		}
	}
}

// finish does not wait for the guardian's own end, which may take long on a busy
// machine: nothing of the command is left, so the lease may go.
func (c *Child) finish(final *report) {
	c.exit = c.exitOf(final)
	close(c.done)
}

// enforce does the guardian's work when a kill is due, in case the guardian is
// frozen. Killing twice does no harm. A guardian that does not report is
// killed at last, so that Wait returns.
func (c *Child) enforce(overdue time.Time) time.Time {
	c.mu.Lock()
	act := c.plan.due(c.boot())
	c.killed = c.killed || act == stepKill
	c.mu.Unlock()
	if act != stepKill {
		return overdue
	}
	killUnder(c.GuardianPid(), c.pid)
	if overdue.IsZero() {
		return time.Now()
	}
	if time.Since(overdue) > c.stall {
		_ = c.guardian.Process.Kill()
	}
	return overdue
}

func (c *Child) nap(overdue time.Time) time.Duration {
	if !overdue.IsZero() {
		return 20 * time.Millisecond
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plan.nap(c.boot())
}

// bury clears up after the guardian, and after the command if the guardian did
// not live to do so.
func (c *Child) bury() {
	over := c.ended()
	pid := c.GuardianPid()
	_ = c.guardian.Process.Kill() // it has ended or can't be talked to
	awaitDeath(pid)
	if !over {
		clearStrays(pid, c.pid, c.birth)
	}
	_ = c.guardian.Wait() // how it ended says nothing about the command
	guardians.Lock()
	delete(guardians.pids, pid)
	guardians.Unlock()
	c.out.close()
	if !over {
		c.finish(nil)
	}
}

// ended reports that Done is closed.
func (c *Child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *Child) exitOf(final *report) Exit {
	switch {
	case final == nil:
		return Exit{Code: 128 + int(syscall.SIGKILL), Signal: syscall.SIGKILL, Reason: GuardianLost, Err: ErrGuardianLost}
	case final.verb == "ended":
		return Exit{Code: final.code, Signal: final.signal, Reason: c.reason(final)}
	case final.code == codeTooLate:
		return Exit{Err: ErrDeadlinePassed}
	case final.code == codeSetup:
		return Exit{Err: errors.New(final.msg)}
	default:
		return Exit{Err: &ExecError{Code: final.code, Name: c.name, Msg: final.msg}}
	}
}

// reason is why the command ended. A guardian which had not yet read our order when we killed the command in its place takes that for an end of the command's own.
func (c *Child) reason(final *report) Reason {
	c.mu.Lock()
	defer c.mu.Unlock()
	if final.reason == Exited && final.signal == syscall.SIGKILL && c.killed {
		return c.plan.cause
	}
	return final.reason
}
