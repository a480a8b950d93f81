package guardian

import (
	"syscall"
	"testing"
	"time"
)

// startFamily starts a trio whose command has a stubborn descendant in another
// session, without its environment and orphaned.
func startFamily(t *testing.T, d dial, stall time.Duration) (*trio, subject) {
	t.Helper()
	tr := startTrio(t, script{Args: child("family", "stubborn"), Soft: time.Minute, Hard: 2 * time.Minute, Dial: d.file, Stall: stall})
	a, b := tr.life.pid(t, "ready"), tr.life.pid(t, "ready")
	if b == tr.command.pid {
		a, b = b, a
	}
	if a != tr.command.pid {
		t.Fatalf("processes %d and %d are ready, the command is %d", a, b, tr.command.pid)
	}
	s := see(t, b)
	if p, _ := readProc(b); p.ppid != tr.guardian.pid || p.sid == tr.guardian.pid {
		t.Fatalf("parent of the orphan is %d in session %d, guardian is %d", p.ppid, p.sid, tr.guardian.pid)
	}
	return tr, s
}

func TestKilledWrapperLeavesNobodyBehind(t *testing.T) {
	t.Parallel()
	d := newDial(t)
	tr, stray := startFamily(t, d, 0)
	tr.wrapper.send(t, syscall.SIGKILL)
	tr.life.next(t, "got terminated") // at once
	if !tr.command.alive() || !stray.alive() {
		t.Error("killed before the hard deadline")
	}
	d.step(t, 3*time.Minute)
	tr.ended(t, stray)
}

func TestKilledWrapperEndsAWillingCommandAtOnce(t *testing.T) {
	t.Parallel()
	tr := startTrio(t, script{Args: child("wait"), Soft: far, Hard: far})
	tr.life.next(t, "ready")
	tr.wrapper.send(t, syscall.SIGKILL)
	tr.ended(t)
}

// A terminal that is closed, or a shell that ends a job, hits the wrapper's
// whole group and session.
func TestGuardianIsOutsideOfTheWrappersSession(t *testing.T) {
	t.Parallel()
	tr := startTrio(t, script{Args: child("trap"), Soft: far, Hard: far})
	tr.life.next(t, "ready")
	if p, _ := readProc(tr.guardian.pid); p.sid != p.pid || p.pgrp != p.pid {
		t.Errorf("the guardian is in session %d and group %d, its pid is %d", p.sid, p.pgrp, p.pid)
	}
	if err := syscall.Kill(-tr.wrapper.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	tr.life.next(t, "got terminated")
	tr.ended(t)
}

func TestFrozenWrapperDoesNotProlongTheCommand(t *testing.T) {
	t.Parallel()
	d := newDial(t)
	tr, stray := startFamily(t, d, 0)
	tr.wrapper.freeze(t)
	d.step(t, 70*time.Second)
	tr.life.next(t, "got terminated")
	d.step(t, 130*time.Second)
	tr.ended(t, stray)
	tr.wrapper.send(t, syscall.SIGCONT)
	if e := tr.exit(t); e.Reason != HardDeadline || e.Code != 137 {
		t.Errorf("the wrapper saw %+v", e)
	}
}

func TestKilledGuardianTakesTheCommandAlong(t *testing.T) {
	t.Parallel()
	tr, stray := startFamily(t, newDial(t), 0)
	tr.guardian.send(t, syscall.SIGKILL)
	if e := tr.exit(t); e.Reason != GuardianLost || e.Code != 137 || e.Err != ErrGuardianLost.Error() {
		t.Errorf("the wrapper saw %+v", e)
	}
	gone(t, tr.guardian, tr.command, stray)
	tr.ended(t, stray)
}

// With the wrapper frozen, only the kernel is left to do it.
func TestKilledGuardianTakesTheCommandAlongWithoutTheWrapper(t *testing.T) {
	t.Parallel()
	tr := startTrio(t, script{Args: child("stubborn"), Soft: far, Hard: far})
	tr.life.next(t, "ready")
	tr.wrapper.freeze(t)
	tr.guardian.send(t, syscall.SIGKILL)
	tr.ended(t)
	tr.wrapper.send(t, syscall.SIGCONT)
	if e := tr.exit(t); e.Reason != GuardianLost {
		t.Errorf("the wrapper saw %+v", e)
	}
}

func TestFrozenGuardianDoesNotProlongTheCommand(t *testing.T) {
	t.Parallel()
	d := newDial(t)
	tr, stray := startFamily(t, d, 0)
	tr.guardian.freeze(t)
	d.step(t, 70*time.Second) // the soft deadline is the guardian's alone
	d.step(t, 130*time.Second)
	if e := tr.exit(t); e.Reason != GuardianLost || e.Err != ErrGuardianLost.Error() {
		t.Errorf("the wrapper saw %+v", e)
	}
	gone(t, tr.guardian, tr.command, stray)
	tr.ended(t, stray)
}

// The wrapper does the guardian's whole work, and does not depend on killing it.
func TestWrapperReachesStraysOfAFrozenGuardian(t *testing.T) {
	t.Parallel()
	d := newDial(t)
	tr, stray := startFamily(t, d, patience)
	tr.guardian.freeze(t)
	d.step(t, 130*time.Second)
	eventually(t, "command and stray are gone", func() bool { return !tr.command.alive() && !stray.alive() })
	tr.guardian.send(t, syscall.SIGCONT)
	if e := tr.exit(t); e.Reason != HardDeadline || e.Err != "<nil>" {
		t.Errorf("the wrapper saw %+v", e)
	}
	tr.ended(t)
}

func TestFrozenGuardianDoesNotEndARenewedLease(t *testing.T) {
	t.Parallel()
	tr := startTrio(t, script{Args: child("trap"), Soft: far, Hard: far, Renew: time.Millisecond})
	tr.life.next(t, "ready")
	tr.guardian.freeze(t)
	tr.command.send(t, syscall.SIGUSR1)
	tr.life.next(t, "got user defined signal 1")
	tr.guardian.send(t, syscall.SIGCONT)
	tr.command.send(t, syscall.SIGTERM)
	if e := tr.exit(t); e.Reason != Exited || e.Code != 0 {
		t.Errorf("the wrapper saw %+v", e)
	}
	tr.ended(t)
}

func TestAllThreeKilledLeaveNobodyBehind(t *testing.T) {
	t.Parallel()
	tr := startTrio(t, script{Args: child("stubborn"), Soft: far, Hard: far})
	tr.life.next(t, "ready")
	for _, s := range []subject{tr.wrapper, tr.guardian, tr.command} {
		// The kernel may have been faster with the command.
		if err := syscall.Kill(s.pid, syscall.SIGKILL); err != nil && s != tr.command {
			t.Error(err)
		}
	}
	tr.ended(t, tr.wrapper)
}

// The same with real time, and a wrapper that had renewed for a while.
func TestFrozenWrapperByTheRealClock(t *testing.T) {
	t.Parallel()
	const soft, hard = 6 * time.Second, 7 * time.Second
	began := Now()
	tr := startTrio(t, script{Args: child("stubborn"), Soft: soft, Hard: hard, Renew: 50 * time.Millisecond})
	tr.life.next(t, "ready")
	tr.wrapper.freeze(t)
	frozen := Now()
	tr.life.next(t, "got terminated")
	termed := Now()
	tr.ended(t)
	killed := Now()
	if termed < began.Add(soft) || killed < began.Add(hard) {
		t.Errorf("TERM %v and KILL %v after the start, deadlines are %v and %v", termed.Sub(began), killed.Sub(began), soft, hard)
	}
	t.Logf("TERM %v and KILL %v after the freeze; the latest deadlines were at most %v and %v after it", termed.Sub(frozen), killed.Sub(frozen), soft, hard)
	tr.wrapper.send(t, syscall.SIGCONT)
	if e := tr.exit(t); e.Reason != HardDeadline {
		t.Errorf("the wrapper saw %+v", e)
	}
}
