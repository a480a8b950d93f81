package guardian

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family is the command and its process group, seen from the guardian. macOS
// has no subreaper: who leaves the group is out of reach.
type family struct {
	leader int
	reaped bool
	status syscall.WaitStatus
}

func adopt() error { return nil }

func becomeSubreaper() error { return nil }

func commandAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (f *family) leaderEnded() bool {
	if !f.reaped {
		pid, _ := unix.Wait4(f.leader, (*unix.WaitStatus)(&f.status), unix.WNOHANG, nil)
		f.reaped = pid == f.leader
	}
	return f.reaped
}

// signal sends to the leader's group. The id of a group is not given anew while
// it has a member.
func (f *family) signal(s syscall.Signal) { _ = unix.Kill(-f.leader, s) }

func (f *family) reapOrphans() {}

func (f *family) termStrays() {}

// gone tells whether the group is empty. It is called when the leader has ended.
func (f *family) gone() bool { return errors.Is(unix.Kill(-f.leader, 0), unix.ESRCH) }

// killAll returns when the group is empty.
func (f *family) killAll() {
	for pause := time.Millisecond; ; pause = min(2*pause, lookEvery) {
		f.signal(unix.SIGKILL)
		if f.leaderEnded() && f.gone() {
			return
		}
		<-time.After(pause)
	}
}
