package guardian

import (
	"sync"
	"syscall"
	"testing"
	"time"
)

// stepped is a command with deadlines in 60 and 120 s, whose guardian has a clock
// that the test steps. The wrapper's clock stays behind, so that what happens is
// the guardian's doing.
func stepped(t *testing.T, args ...string) (*Child, line, dial) {
	t.Helper()
	d := newDial(t)
	s, life := spec(t, args...)
	s.Soft, s.Hard = Now().Add(time.Minute), Now().Add(2*time.Minute)
	s.Self = d.self()
	c := begin(t, s)
	life.next(t, "ready")
	return c, life, d
}

// ping shows that the command lives, and that the guardian has read all orders
// that came before.
func ping(t *testing.T, c *Child, life line) {
	t.Helper()
	if err := c.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	life.next(t, "got user defined signal 1")
}

func TestSoftDeadlineAsksToEnd(t *testing.T) {
	t.Parallel()
	c, life, d := stepped(t, child("trap")...)
	d.step(t, 61*time.Second)
	if e := await(t, c); e.Reason != SoftDeadline || e.Code != 0 {
		t.Errorf("got %+v", e)
	}
	if out := life.rest(t); out != "got terminated\n" {
		t.Errorf("the command wrote %q", out)
	}
}

func TestHardDeadlineKills(t *testing.T) {
	t.Parallel()
	c, life, d := stepped(t, child("stubborn")...)
	d.step(t, 61*time.Second)
	life.next(t, "got terminated")
	ping(t, c, life)
	d.step(t, 121*time.Second)
	if e := await(t, c); e.Reason != HardDeadline || e.Code != 137 {
		t.Errorf("got %+v", e)
	}
	life.rest(t)
}

func TestHardDeadlineKillsACommandThatLeftItsGroup(t *testing.T) {
	t.Parallel()
	c, life, d := stepped(t, child("regroup")...)
	life.next(t, "ready") // both are
	d.step(t, 121*time.Second)
	if e := await(t, c); e.Reason != HardDeadline || e.Code != 137 {
		t.Errorf("got %+v", e)
	}
	life.rest(t)
}

// A machine that was suspended: boot time has passed, monotonic time has not,
// and nobody sends anything.
func TestGuardianSeesASuspendWithoutAnyEvent(t *testing.T) {
	t.Parallel()
	c, life, d := stepped(t, child("stubborn")...)
	d.step(t, 130*time.Second)
	if e := await(t, c); e.Reason != HardDeadline || e.Code != 137 {
		t.Errorf("got %+v", e)
	}
	if out := life.rest(t); out != "" {
		t.Errorf("the command wrote %q, but it was too late for TERM", out)
	}
}

func TestExtendProlongsALiveTerm(t *testing.T) {
	t.Parallel()
	c, life, d := stepped(t, child("trap")...)
	now := Now()
	c.Extend(now.Add(3*time.Minute), now.Add(4*time.Minute))
	c.Extend(now.Add(time.Second), now.Add(time.Second)) // never back
	ping(t, c, life)
	d.step(t, 150*time.Second)
	ping(t, c, life)
	d.step(t, 190*time.Second)
	if e := await(t, c); e.Reason != SoftDeadline {
		t.Errorf("got %+v", e)
	}
}

func TestExtendDoesNotReviveATerm(t *testing.T) {
	t.Parallel()
	c, life, d := stepped(t, child("stubborn")...)
	d.step(t, 61*time.Second)
	life.next(t, "got terminated")
	now := Now()
	c.Extend(now.Add(far), now.Add(far))
	ping(t, c, life)
	d.step(t, 121*time.Second)
	if e := await(t, c); e.Reason != HardDeadline {
		t.Errorf("got %+v", e)
	}
}

func TestExtendDoesNotWaitForAFrozenGuardian(t *testing.T) {
	t.Parallel()
	s, life := spec(t, child("trap")...)
	c := begin(t, s)
	life.next(t, "ready")
	g := see(t, c.GuardianPid())
	g.freeze(t)
	now := Now()
	began := time.Now()
	for i := range 50_000 { // 2 MB in a pipe of 64 kB
		c.Extend(now.Add(far+time.Duration(i)), now.Add(far+time.Duration(i)))
	}
	took := time.Since(began)
	t.Logf("50,000 calls of Extend took %v", took)
	if took > patience {
		t.Errorf("took %v", took)
	}
	g.send(t, syscall.SIGCONT)
	ping(t, c, life)
	c.Stop(far)
	if e := await(t, c); e.Reason != Stopped {
		t.Errorf("got %+v", e)
	}
}

func TestStopKillsAfterTheGrace(t *testing.T) {
	t.Parallel()
	c, life, d := stepped(t, child("stubborn")...)
	c.Stop(20 * time.Second)
	life.next(t, "got terminated")
	ping(t, c, life)
	d.step(t, 25*time.Second)
	if e := await(t, c); e.Reason != Stopped || e.Code != 137 {
		t.Errorf("got %+v", e)
	}
}

func TestStopKillsAtTheHardDeadline(t *testing.T) {
	t.Parallel()
	c, life, d := stepped(t, child("stubborn")...)
	c.Stop(far)
	life.next(t, "got terminated")
	d.step(t, 121*time.Second)
	if e := await(t, c); e.Reason != HardDeadline || e.Code != 137 {
		t.Errorf("got %+v", e)
	}
}

func TestStoppedCommandEndsToo(t *testing.T) {
	t.Parallel()
	s, life := spec(t, child("trap")...)
	c := begin(t, s)
	life.next(t, "ready")
	see(t, c.Pid()).freeze(t)
	c.Stop(far)
	if e := await(t, c); e.Reason != Stopped || e.Code != 0 {
		t.Errorf("got %+v", e)
	}
}

func TestMethodsMayBeCalledAtOnceAndAfterTheEnd(t *testing.T) {
	t.Parallel()
	s, life := spec(t, child("trap")...)
	c := begin(t, s)
	life.next(t, "ready")
	all := func() {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { c.Extend(Now().Add(far), Now().Add(far)) })
			wg.Go(func() { c.Signal(syscall.SIGWINCH) })
			wg.Go(func() { c.Stop(far) })
			wg.Go(func() { c.Wait() })
		}
		wg.Wait()
	}
	all()
	all()
	if e := c.Wait(); e.Reason != Stopped {
		t.Errorf("got %+v", e)
	}
}
