//go:build unix && !linux

package testenv

import (
	"os"
	"syscall"
)

const (
	sigstop = syscall.SIGSTOP
	sigcont = syscall.SIGCONT
)

func attributes(as *account) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		a.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid}
	}
	return a
}

// children finds none here, so that freezing Postgres stops its main process only.
func children(int) []*os.Process { return nil }

// goesOn can't be told here: the signal is taken at its word.
func goesOn(*os.Process) bool { return false }
