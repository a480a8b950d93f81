package guardian

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family is the command and its descendants, seen from the guardian, which is
// their parent or becomes it when their own parent ends (subreaper).
//
// A child that has ended keeps its pid until it is reaped, and only we reap our
// children. So signals go to our own children and to the leader's group while
// the leader is not reaped, and never to a pid that may have been given anew.
type family struct {
	leader int
	reaped bool
	status syscall.WaitStatus // of the leader, once reaped
	looked time.Time          // when reapOrphans last did
}

// adopt prepares this process to be the guardian of a family.
func adopt() error {
	// A name for ps: executed as /proc/self/exe we would be called "exe".
	_ = os.WriteFile("/proc/self/comm", []byte("tenure-guardian"), 0)
	// Best effort, kernels before 5.11 don't know it.
	_ = unix.CloseRange(firstFree, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	return becomeSubreaper()
}

// becomeSubreaper makes this process the parent of its orphaned descendants.
func becomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("guardian: can't become a subreaper: %w", err)
	}
	if _, err := readProc(os.Getpid()); err != nil {
		return fmt.Errorf("guardian: /proc is needed to find stray processes: %w", err)
	}
	return nil
}

// commandAttr has the kernel kill the command when the guardian dies.
func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// leaderEnded looks without reaping: while the leader is a zombie, its pid and
// with it the id of its group can't be given to others.
func (f *family) leaderEnded() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, f.leader, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// signal sends to the leader's group.
func (f *family) signal(s syscall.Signal) {
	if !f.reaped {
		_ = unix.Kill(-f.leader, s) // no member left is not an error
	}
}

// others are our children apart from the leader. It reaps those that have
// ended, whose own children are ours then.
func (f *family) others() []proc {
	var alive []proc
	for _, p := range ownChildren() {
		if p.pid == f.leader && !f.reaped {
			continue
		}
		if got, _ := unix.Wait4(p.pid, nil, unix.WNOHANG, nil); got != p.pid {
			alive = append(alive, p)
		}
	}
	return alive
}

// reapOrphans keeps zombies from piling up in a long life. It reads all of
// /proc, so it does that rarely.
func (f *family) reapOrphans() {
	if time.Since(f.looked) >= time.Second {
		f.others()
		f.looked = time.Now()
	}
}

// termStrays asks those to end that left the leader's group.
func (f *family) termStrays() {
	for _, p := range f.others() {
		if p.pgrp != f.leader {
			_ = unix.Kill(p.pid, unix.SIGTERM)
		}
	}
}

// gone tells whether nobody is left. It is called when the leader has ended.
// The list of /proc is not taken at one instant, so the kernel has the last
// word: there are no descendants if there are no children.
func (f *family) gone() bool {
	if len(f.others()) > 0 {
		return false
	}
	for !f.reaped {
		_, err := unix.Wait4(f.leader, (*unix.WaitStatus)(&f.status), 0, nil)
		f.reaped = !errors.Is(err, unix.EINTR)
	}
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if errors.Is(err, unix.ECHILD) {
			return true
		}
		if pid == 0 {
			return false
		}
	}
}

// killAll returns when nobody is left. Killing a child hands its children to
// us, so a few rounds reach all descendants, whatever group or session they are
// in. What can't be killed is waited for.
func (f *family) killAll() {
	for pause := time.Millisecond; ; pause = min(2*pause, lookEvery) {
		f.signal(unix.SIGKILL)
		if !f.reaped {
			_ = unix.Kill(f.leader, unix.SIGKILL) // it may have joined another group
		}
		for _, p := range f.others() {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
		if (f.reaped || f.leaderEnded()) && f.gone() {
			return
		}
		<-time.After(pause)
	}
}
