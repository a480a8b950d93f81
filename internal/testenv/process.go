package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// command says how to run a server.
type command struct {
	args []string
	// interrupt is the signal that makes the server end in good order.
	interrupt os.Signal
	// as is the user to run as; nil means the present one.
	as *account
}

// account is a user of this machine.
type account struct{ uid, gid uint32 }

// own gives a file to the account.
func (a *account) own(file string) error {
	if a == nil {
		return nil
	}
	return os.Chown(file, int(a.uid), int(a.gid))
}

// write writes a file that only the account may read.
func (a *account) write(file, text string) error {
	return errors.Join(os.WriteFile(file, []byte(text), 0o600), a.own(file))
}

// process is a running server.
type process struct {
	cmd       *exec.Cmd
	interrupt os.Signal
	done      chan struct{} // closed when the process has ended and was waited for
}

// cmd is an exec.Cmd for a program that runs as the command's user and dies with the test.
func (c *command) cmd(binary string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...) //nolint:noctx // it lives as long as the test, and stop ends it
	cmd.SysProcAttr = attributes(c.as)
	return cmd
}

// start runs the server with its output in the site's log.
func (c *command) start(s *site) (*process, error) {
	log, err := os.OpenFile(s.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{cmd: c.cmd(s.binary, c.args...), interrupt: c.interrupt, done: make(chan struct{})}
	p.cmd.Dir = s.dir
	p.cmd.Stdout, p.cmd.Stderr = log, log

	started := make(chan error)
	go func() {
		// Linux sends the parent-death signal when the *thread* ends that started the child: keep it until the child's end.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // a server that was told to end may have any exit status
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process and its children at once and waits for their end: a Postgres that starts again refuses to share its
// data with a child of the one before.
func (p *process) kill() {
	family := children(p.pid())
	_ = p.cmd.Process.Kill() // fails only when it has ended
	<-p.done
	for _, child := range family {
		_ = child.Kill() // likewise
	}
	until(func() bool { return !slices.ContainsFunc(family, alive) })
}

func alive(p *os.Process) bool { return p.Signal(syscall.Signal(0)) == nil }

// stop ends the process in good order, and by force where that takes too long.
func (p *process) stop() error {
	if err := p.thaw(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.kill()
		return err
	}
	if err := p.cmd.Process.Signal(p.interrupt); err != nil {
		p.kill()
		return nil // it had ended, or the system has no such signal
	}
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case <-p.done:
		return nil
	case <-timeout.C:
		p.kill()
		return fmt.Errorf("it did not end within %v of %v and was killed", stopTimeout, p.interrupt)
	}
}

// freeze returns when nothing of the server runs any more. It stops the process first, so that it starts no more children,
// then those it has.
func (p *process) freeze() error {
	if err := stopAll([]*os.Process{p.cmd.Process}); err != nil {
		return err
	}
	return stopAll(children(p.pid()))
}

// stopAll waits for the effect: on a loaded machine it may come much later than the signal.
func stopAll(processes []*os.Process) error {
	if err := signalAll(processes, sigstop); err != nil {
		return err
	}
	if !until(func() bool { return !slices.ContainsFunc(processes, goesOn) }) {
		return fmt.Errorf("still running %v after the signal to stop", stopTimeout)
	}
	return nil
}

// until polls a condition for at most stopTimeout.
func until(condition func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(stopTimeout); time.Now().Before(limit); <-tick.C {
		if condition() {
			return true
		}
	}
	return false
}

// thaw wakes the children first: the process then finds them as it left them.
func (p *process) thaw() error {
	return errors.Join(signalAll(children(p.pid()), sigcont), p.cmd.Process.Signal(sigcont))
}

// signalAll signals processes, some of which may have ended.
func signalAll(processes []*os.Process, signal syscall.Signal) error {
	var failed []error
	for _, p := range processes {
		if err := p.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
