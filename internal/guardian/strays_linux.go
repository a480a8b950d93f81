package guardian

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// birth is when a process started, in the kernel's ticks.
func birth(pid int) uint64 {
	p, _ := readProc(pid)
	return p.start
}

// awaitDeath returns when a child of ours has ended. It does not reap it: its
// pid, which is also the id of its session, must not be given anew yet.
func awaitDeath(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// killGroup kills the command's group, if it is still the one in the guardian's
// session.
func killGroup(guardian, leader int) {
	if leader <= 0 {
		return // the guardian has not told it yet
	}
	if sid, err := unix.Getsid(leader); err == nil && sid == guardian {
		_ = unix.Kill(-leader, unix.SIGKILL)
	}
}

// killUnder does a stalled guardian's work: it kills the command's group and
// whatever else the guardian is parent of. One call reaches one generation.
func killUnder(guardian, leader int) {
	killGroup(guardian, leader)
	for _, p := range childrenOf(guardian) {
		if !p.zombie {
			killChild(p.pid, guardian)
		}
	}
}

// killChild kills a process that is another one's child. The guardian may wake
// up and reap it, and its pid be given anew, so it is pinned first
// (os.Process holds a pidfd) and then looked at again.
func killChild(pid, parent int) {
	pin, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer pin.Release()
	if p, err := readProc(pid); err == nil && p.ppid == parent {
		_ = pin.Kill()
	}
}

// clearStrays ends what a dead guardian left: its orphans are our children now,
// since we are a subreaper. It returns when none is left.
func clearStrays(guardian, leader int, since uint64) {
	killGroup(guardian, leader)
	// /proc is not read at one instant: an orphan may hide from one look.
	for empty, pause := 0, time.Millisecond; empty < 2; pause = min(2*pause, lookEvery) {
		if sweepStrays(since) {
			empty = 0
		} else {
			empty++
		}
		<-time.After(pause)
	}
}

// sweepStrays kills and reaps one generation of orphans and tells whether there
// was any. We may have children of other origin. A guardian's descendant
// is told from them by its session, which is never ours, as a guardian starts
// with a new one; other guardians are known.
func sweepStrays(since uint64) (found bool) {
	guardians.Lock()
	defer guardians.Unlock()
	ours, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for _, p := range childrenOf(os.Getpid()) {
		if p.sid == ours || p.start < since || guardians.pids[p.pid] {
			continue
		}
		found = true
		if got, _ := unix.Wait4(p.pid, nil, unix.WNOHANG, nil); got != p.pid {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
	}
	return found
}
