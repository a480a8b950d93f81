//go:build linux || darwin

package guardian

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Child is a command that runs under a lease. Its methods may be called at any
// time and from several goroutines; after the end they do nothing.
type Child struct {
	guardian *exec.Cmd
	birth    uint64 // of the guardian
	detached bool
	name     string
	boot     func() BootTime
	stall    time.Duration
	out      *outbox
	started  chan struct{} // closed when pid is known
	done     chan struct{} // closed when exit is set and nothing is left

	mu     sync.Mutex
	plan   plan
	killed bool // by this process, in the guardian's place

	pid  int  // readable after started
	exit Exit // readable after done
}

func newChild(s Spec, out *outbox) *Child {
	c := &Child{
		name: s.Args[0], boot: s.boot, stall: s.stall, out: out, plan: newPlan(s.Soft, s.Hard),
		started: make(chan struct{}), done: make(chan struct{}),
	}
	if c.boot == nil {
		c.boot = Now
	}
	if c.stall == 0 {
		c.stall = stallGrace
	}
	c.guardian, c.detached = s.command()
	return c
}

// Pid is the command's process id, which is the id of its group too.
func (c *Child) Pid() int { return c.pid }

// GuardianPid is the guardian's process id.
func (c *Child) GuardianPid() int { return c.guardian.Process.Pid }

// StdinDetached tells that standard input was a terminal, and that the command
// got the null device instead.
func (c *Child) StdinDetached() bool { return c.detached }

// Extend moves the deadlines, which never go back. Once the soft deadline has
// passed it does nothing. It does not wait for the guardian.
func (c *Child) Extend(soft, hard BootTime) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plan.extend(c.boot(), soft, hard)
	c.out.put(order{verb: "deadline", soft: c.plan.soft, hard: c.plan.hard})
}

// Stop sends TERM to the command's group. It sends KILL after grace or at the
// hard deadline, whichever comes first. Deadlines can still be extended, so
// that the lease is held while the command finishes. A second Stop can only
// shorten the grace.
func (c *Child) Stop(grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plan.end(c.boot(), Stopped, grace)
	c.out.put(order{verb: "stop", grace: grace})
}

// forwarded are the signals that mean something else than "end": Stop is for
// that.
var forwarded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
}

// Forwarded lists what Signal takes and a wrapper should pass on. Signals that
// this process ignores are left out: the command inherits that (nohup). Ask
// before any signal.Notify.
func Forwarded() []os.Signal {
	return slices.DeleteFunc(slices.Clone(forwarded), signal.Ignored)
}

// Signal sends HUP, INT, QUIT, USR1, USR2 or WINCH to the command's group.
func (c *Child) Signal(s os.Signal) error {
	n, ok := s.(syscall.Signal)
	if !ok || !slices.Contains(forwarded, s) {
		return fmt.Errorf("guardian: signal %v is not forwarded; to end the command use Stop", s)
	}
	c.out.put(order{verb: "signal", signal: n})
	return nil
}

// Done is closed when the command and all its descendants have ended. The
// guardian itself may take a moment longer.
func (c *Child) Done() <-chan struct{} { return c.done }

// Wait waits for Done and returns how the command ended.
func (c *Child) Wait() Exit {
	<-c.done
	return c.exit
}
