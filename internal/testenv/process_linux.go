package testenv

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// stat is the state of a process and its parent, or two empty strings when it is gone.
func stat(pid int) (state, parent string) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", ""
	}
	// pid (name) state parent ...: the name may contain anything, so look behind its last bracket.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 2 {
		return "", ""
	}
	return string(fields[0]), string(fields[1])
}

// goesOn reports whether a process is neither stopped nor at its end.
func goesOn(p *os.Process) bool {
	state, _ := stat(p.Pid)
	return state != "" && !strings.Contains("TtZX", state)
}

// children finds the processes that a server has started: Postgres has one for each connection.
func children(pid int) []*os.Process {
	names, _ := filepath.Glob("/proc/[0-9]*")
	var found []*os.Process
	for _, name := range names {
		child, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if _, parent := stat(child); parent != strconv.Itoa(pid) {
			continue
		}
		if p, err := os.FindProcess(child); err == nil {
			found = append(found, p)
		}
	}
	return found
}
