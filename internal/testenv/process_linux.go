package testenv

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

const (
	sigstop = syscall.SIGSTOP
	sigcont = syscall.SIGCONT
)

// attributes make the kernel kill the child when the test process dies, and keep terminal signals from it.
func attributes(as *account) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if as != nil {
		a.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid}
	}
	return a
}

// children finds the processes that a server has started: Postgres has one for each connection.
func children(pid int) []*os.Process {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []*os.Process
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent ...: the name may contain anything, so look behind its last bracket.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(pid) {
			continue
		}
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			continue
		}
		if p, err := os.FindProcess(child); err == nil {
			found = append(found, p)
		}
	}
	return found
}
