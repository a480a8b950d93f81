package main

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/internal/testenv"
)

// patience is how long a test waits for what has to come. It says nothing about how fast that should be.
const patience = 30 * time.Second

// eventually waits until ok.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	eventuallyWithin(t, patience, what, ok)
}

// eventuallyWithin is for what may take as long as the leases of a test.
func eventuallyWithin(t testing.TB, most time.Duration, what string, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(most)
	defer limit.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-limit.C:
			t.Fatalf("it did not come: %s", what)
		case <-tick.C:
		}
	}
}

// output is what a process has written so far.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// process is a tenure process of a test.
type process struct {
	t              testing.TB
	cmd            *exec.Cmd
	stdout, stderr output
	done           chan struct{}
}

// setting is how a test runs tenure.
type setting struct {
	store  string   // TENURE_STORE
	env    []string // more of it
	binary string   // default: this test binary
}

// sqlite is a store for one test.
func sqlite(t testing.TB) setting {
	return setting{store: "sqlite://" + filepath.Join(t.TempDir(), "tenure.db")}
}

// start starts tenure.
func (s setting) start(t testing.TB, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(cmp.Or(s.binary, "/proc/self/exe"), args...), done: make(chan struct{})}
	p.cmd.Args[0] = "tenure"
	// Not the variable that tells the tests their password: it is no part of tenure's environment.
	own := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "TENURE_CANARY=") || strings.HasPrefix(e, storeVariable+"=")
	})
	p.cmd.Env = append(own, asTenure+"=1", "XDG_STATE_HOME="+t.TempDir())
	if s.store != "" {
		p.cmd.Env = append(p.cmd.Env, storeVariable+"="+s.store)
	}
	p.cmd.Env = append(p.cmd.Env, s.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also a frozen one ends with the test
	p.cmd.WaitDelay = patience                                           // what is left of a killed family may hold the pipes
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // its code is in ProcessState
	}()
	t.Cleanup(p.end)
	return p
}

// end ends what a test has left running: first as users do, then by force.
func (p *process) end() {
	select {
	case <-p.done:
	default:
		p.send(syscall.SIGCONT)
		p.send(syscall.SIGTERM)
		p.send(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(patience):
			p.send(syscall.SIGKILL)
			<-p.done
		}
	}
	if p.t.Failed() {
		p.t.Logf("%q wrote:\n%s%s", p.cmd.Args, p.stdout.String(), p.stderr.String())
	}
	checkSecret(p.t, "the output of tenure", p.stdout.String()+p.stderr.String())
}

// send signals tenure itself.
func (p *process) send(s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("signal %v: %v", s, err)
	}
}

// code waits for the end and returns the exit code, -1 if it was killed.
func (p *process) code() int {
	p.t.Helper()
	return p.codeWithin(patience)
}

func (p *process) codeWithin(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		p.t.Fatalf("%q does not end", p.cmd.Args)
	}
	return p.cmd.ProcessState.ExitCode()
}

// says waits until standard output has a text.
func (p *process) says(text string) {
	p.t.Helper()
	eventually(p.t, text, func() bool { return strings.Contains(p.stdout.String(), text) })
}

// logs waits until standard error has a text.
func (p *process) logs(text string) {
	p.t.Helper()
	eventually(p.t, text, func() bool { return strings.Contains(p.stderr.String(), text) })
}

// family is the guardian and the command of a leading tenure. Both are held by descriptors, so that no other process can ever be taken for them.
type family struct {
	guardian, child held
}

// family waits until tenure leads for the nth time, and takes hold of its guardian and command.
func (p *process) family(n int) family {
	p.t.Helper()
	var pids []int
	eventually(p.t, "a started command", func() bool {
		pids = fields(p.stderr.String(), "pid")
		return len(pids) >= n
	})
	return family{
		guardian: hold(p.t, fields(p.stderr.String(), "guardian_pid")[n-1]),
		child:    hold(p.t, pids[n-1]),
	}
}

// fields finds name=number in a log for people, and "name":number in JSON.
func fields(log, name string) (found []int) {
	words := strings.FieldsFunc(log, func(r rune) bool { return strings.ContainsRune(" \n,{}", r) })
	for _, w := range words {
		for _, prefix := range []string{name + "=", `"` + name + `":`} {
			if rest, ok := strings.CutPrefix(w, prefix); ok {
				if n, err := strconv.Atoi(rest); err == nil {
					found = append(found, n)
				}
			}
		}
	}
	return found
}

// held is a process by its descriptor.
type held struct{ pid, fd int }

func hold(t testing.TB, pid int) held {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return held{pid: pid, fd: -1} // it has ended already
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return held{pid, fd}
}

// kill ends the process if it is still there.
func (h held) kill() {
	if h.fd >= 0 {
		_ = unix.PidfdSendSignal(h.fd, unix.SIGKILL, nil, 0) // it may have ended
	}
}

// ended reports whether the process has ended, and waits for that up to a time.
func (h held) ended(wait time.Duration) bool {
	if h.fd < 0 {
		return true
	}
	poll := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	for end := time.Now().Add(wait); ; {
		n, err := unix.Poll(poll, int(max(0, time.Until(end).Milliseconds())))
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0
		}
	}
}

// gone fails the test if the processes don't end.
func gone(t testing.TB, what string, processes ...held) {
	t.Helper()
	for _, h := range processes {
		if !h.ended(patience) {
			t.Errorf("%s: process %d is still there", what, h.pid)
			h.kill()
		}
	}
}

// shownSecret is a password that tests give in arguments, where the stores' one must not stand.
const shownSecret = "given-in-arguments-7f3a"

// checkSecret fails the test if a text shows the password of the test's stores, or the one of arguments.
func checkSecret(t testing.TB, where, text string) {
	t.Helper()
	for _, secret := range []string{testenv.Password(), shownSecret} {
		if strings.Contains(text, secret) {
			t.Errorf("the password shows in %s", where)
		}
	}
}

// child is the command line of the test binary as the command.
func child(args ...string) []string {
	return append([]string{"--", self(), "__child"}, args...)
}

func command(flags []string, line ...string) []string {
	return append(append([]string{"run"}, flags...), line...)
}

// self is this test binary.
func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}
