package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// slot is a place in an arena: candidates come and go, the way to the store stays.
type slot struct {
	number    int
	busy      atomic.Bool // something is done to its processes
	candidate *candidate
}

// candidate is one 'tenure run'. Unlike process it writes to a file, so that its end is its own and not that of its last descendant.
type candidate struct {
	number int
	kind   string // of its command
	cmd    *exec.Cmd
	log    string
	done   chan struct{}
	killed atomic.Bool // by us
}

// kinds of commands: see chaosChild.
var chaosKinds = []string{"work", "work", "work", "slow", "deaf", "exits", "family", "family", "deaf-family", "leaves"}

func (c *candidate) String() string { return fmt.Sprintf("c%03d", c.number) }

// short: its terms may end at any time by themselves.
func (c *candidate) short() bool { return c.kind == "exits" || c.kind == "leaves" }

// family: its command isn't the one that works.
func (c *candidate) family() bool { return strings.Contains(c.kind, "family") || c.kind == "leaves" }

func (c *candidate) alive() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// fill lets a new candidate come.
func (a *arena) fill(s *slot) {
	n := len(a.candidates)
	c := &candidate{number: n, kind: chaosKinds[a.IntN(len(chaosKinds))], log: filepath.Join(filepath.Dir(a.path), fmt.Sprintf("log%03d", n)), done: make(chan struct{})}
	grace := a.between(0, 2*chaosTTL).Round(time.Millisecond)
	args := command([]string{"--election", "chaos", "--ttl", seconds(chaosTTL), "--grace", grace.String(), "--id", c.String(), "--json", "--verbose"},
		"--", self(), "__child", "chaos", c.kind, a.path)
	c.cmd = exec.Command(cmp.Or(a.binary, "/proc/self/exe"), args...)
	c.cmd.Args[0] = "tenure"
	own := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "TENURE_") })
	// The guardian's environment is bare, but has the linker's variables.
	c.cmd.Env = append(own, asTenure+"=1", storeVariable+"="+a.store.url(s.number), "LD_LIBRARY_PATH="+a.mark)
	log, err := os.Create(c.log)
	if err != nil {
		a.Fatal(err)
	}
	defer log.Close()
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		a.Fatal(err)
	}
	go func() {
		defer close(c.done)
		_ = c.cmd.Wait() // its code is in ProcessState
	}()
	a.Cleanup(func() { _ = c.cmd.Process.Kill(); <-c.done })
	a.candidates = append(a.candidates, c)
	s.candidate = c
	a.note("slot %d: %v is process %d, a %s with grace %v", s.number, c, c.cmd.Process.Pid, c.kind, grace)
}

// replace lets new candidates come for those that have ended.
func (a *arena) replace() {
	for _, s := range a.slots {
		if !s.candidate.alive() && !s.busy.Load() && time.Now().After(a.barred) {
			a.fill(s)
		}
	}
}

// says is the candidate's log so far.
func (c *candidate) says() string {
	b, _ := os.ReadFile(c.log)
	return string(b)
}

// knows is the token of the leader that the candidate knows of, and whether the store answers it.
func (c *candidate) knows() (token int64, contact bool) {
	log := c.says()
	for _, what := range []string{`"elector: leader"`, `"elector: started"`} {
		if i := strings.LastIndex(log, what); i >= 0 {
			line, _, _ := strings.Cut(log[i:], "\n")
			if found := fields(line, "token"); len(found) > 0 {
				token = max(token, int64(found[0]))
			}
		}
	}
	return token, strings.LastIndex(log, `"the store does not answer"`) <= strings.LastIndex(log, `"the store answers again"`)
}

// kin is a process with its descriptor, so that a signal never reaches another one.
type kin struct {
	held
	role string
}

func (k kin) send(s syscall.Signal) { _ = unix.PidfdSendSignal(k.fd, s, nil, 0) } // it may have ended

func (k kin) gone(wait time.Duration) bool { return k.ended(wait) }

// kinds of processes that a candidate has, from the top.
var chaosRoles = []string{"wrapper", "guardian", "command", "worker"}

// tribe takes hold of the candidate's processes: itself, its guardian, its command, and what works for that.
func (a *arena) tribe(c *candidate) (all []kin) {
	pids := []int{c.cmd.Process.Pid}
	for _, role := range chaosRoles {
		if len(pids) == 0 {
			break
		}
		if fd, err := unix.PidfdOpen(pids[0], 0); err == nil {
			if !a.ours(pids[0]) {
				unix.Close(fd)
				break
			}
			all = append(all, kin{held{pids[0], fd}, role})
		}
		pids = childrenOf(pids[0])
	}
	return all
}

// ours tells by the environment that a process belongs to this round.
func (a *arena) ours(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && strings.Contains("\x00"+string(b), "\x00LD_LIBRARY_PATH="+a.mark+"\x00")
}

// left are the processes of this round that are still there.
func (a *arena) left() (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && a.ours(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// childrenOf are a process' children.
func childrenOf(parent int) (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for field := range strings.FieldsSeq(string(b)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
