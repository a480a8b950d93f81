//go:build linux || darwin

package guardian

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// The pipes' descriptors in the guardian.
const (
	controlFD = 3
	statusFD  = 4
	firstFree = 5
)

// serve is Main with a clock.
func serve(boot func() BootTime) int {
	// The parent-death signal of the command is tied to the thread that forks it.
	// Locked to the main goroutine, that thread lives as long as the guardian.
	runtime.LockOSThread()
	if !isPipe(controlFD) || !isPipe(statusFD) {
		fmt.Fprintf(os.Stderr, "%s is internal: it is started by the command that runs a program under a lease\n", Subcommand)
		return 64
	}
	// The command must not hold a pipe open when we are gone.
	unix.CloseOnExec(controlFD)
	unix.CloseOnExec(statusFD)
	sheltered := shelter()
	defer signal.Stop(sheltered)

	control := bufio.NewReader(os.NewFile(controlFD, "control"))
	status := os.NewFile(statusFD, "status")
	h, err := readHello(control)
	if errors.Is(err, io.EOF) {
		return 0 // the wrapper died before it could say what to run
	}
	for _, r := range guard(h, err, control, status, boot) {
		io.WriteString(status, r.line()) // when it fails, nobody is left to tell
	}
	return 0
}

// guard starts the command and stays with it to its end. It returns the last
// report.
func guard(h hello, err error, control *bufio.Reader, status io.Writer, boot func() BootTime) []report {
	if err == nil {
		err = adopt()
	}
	if err != nil {
		return []report{{verb: "failed", code: codeSetup, msg: err.Error()}}
	}
	if boot() >= h.Soft {
		return []report{{verb: "failed", code: codeTooLate}}
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	pid, failed := launch(h)
	if failed != nil {
		return []report{*failed}
	}
	io.WriteString(status, report{verb: "started", pid: pid}.line())
	k := keeper{
		family: family{leader: pid}, plan: newPlan(h.Soft, h.Hard), boot: boot,
		orders: readOrders(control), ended: ended,
	}
	return []report{k.run()}
}

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// shelter takes the signals that one may send to all processes of a name or
// a service: it is the wrapper that decides, and a guardian that dies of them
// kills the command without grace. They are caught and not ignored, since
// the command would inherit that. What is ignored already stays so for the
// command (nohup).
func shelter() chan<- os.Signal {
	c := make(chan os.Signal, 1)
	for _, s := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c
}

func readHello(r *bufio.Reader) (h hello, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, err
	}
	if h.Protocol != protocol {
		return h, fmt.Errorf("guardian: the binary was replaced while it ran: the wrapper speaks protocol %d, the guardian %d", h.Protocol, protocol)
	}
	return h, nil
}

// readOrders passes orders on until the wrapper is gone. A line that makes no
// sense counts as that.
func readOrders(r *bufio.Reader) <-chan order {
	c := make(chan order)
	go func() {
		defer close(c)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			o, err := parseOrder(line)
			if err != nil {
				return
			}
			c <- o
		}
	}()
	return c
}

// exitCode follows the shell: 128+n for signal n.
func exitCode(ws syscall.WaitStatus) (int, syscall.Signal) {
	if ws.Signaled() {
		return 128 + int(ws.Signal()), ws.Signal()
	}
	return ws.ExitStatus(), 0
}
