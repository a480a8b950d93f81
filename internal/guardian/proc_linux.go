package guardian

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// proc is a process as /proc tells it.
type proc struct {
	pid, ppid, pgrp, sid int
	zombie               bool
	start                uint64 // in clock ticks since boot
}

func readProc(pid int) (proc, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, err
	}
	return parseStat(b)
}

// parseStat reads "pid (name) state ppid pgrp session …". The name may hold
// spaces and parentheses, so the last parenthesis counts.
func parseStat(b []byte) (p proc, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return p, fmt.Errorf("guardian: unexpected stat %q", b)
	}
	f := bytes.Fields(b[end+1:])
	if len(f) < 20 {
		return p, fmt.Errorf("guardian: unexpected stat %q", b)
	}
	number := func(b []byte) (n int) {
		if err == nil {
			n, err = strconv.Atoi(string(b))
		}
		return n
	}
	p = proc{
		pid:    number(bytes.TrimSpace(b[:open])),
		zombie: f[0][0] == 'Z' || f[0][0] == 'X',
		ppid:   number(f[1]),
		pgrp:   number(f[2]),
		sid:    number(f[3]),
	}
	if err == nil {
		p.start, err = strconv.ParseUint(string(f[19]), 10, 64)
	}
	return p, err
}

// ownChildren lists the children of this process. The kernel keeps that list by
// thread and may leave one out while others end, so it is for callers who look
// again, or ask wait4. It spares them a walk through all of /proc.
func ownChildren() []proc {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(tasks) == 0 { // a kernel without CONFIG_PROC_CHILDREN
		return childrenOf(os.Getpid())
	}
	var children []proc
	for _, task := range tasks {
		pids, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for field := range bytes.FieldsSeq(pids) {
			pid, err := strconv.Atoi(string(field))
			if err != nil {
				continue
			}
			if p, err := readProc(pid); err == nil && p.ppid == os.Getpid() {
				children = append(children, p)
			}
		}
	}
	return children
}

// childrenOf lists the children of a process. Processes that end meanwhile are
// left out.
func childrenOf(parent int) []proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var children []proc
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := readProc(pid); err == nil && p.ppid == parent {
			children = append(children, p)
		}
	}
	return children
}
