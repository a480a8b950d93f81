//go:build linux || darwin

package guardian

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardians are those of this process. The list is global as children are: a
// search for strays must not take another Child's guardian for one.
var guardians = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// Start runs a command under a guardian and returns when the command has been
// started. ctx bounds the start only. The error is an [*ExecError] if the
// command can't be run, and [ErrDeadlinePassed] if it is too late for it.
//
// On Linux it makes the calling process a subreaper, for its whole life. Such a
// process should start no other children in sessions of their own: if the
// guardian is lost, they can't be told from the command's orphans and are killed
// as well.
func Start(ctx context.Context, s Spec) (*Child, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.Dir != "" {
		// exec's own error names the guardian's binary, not the directory
		if _, err := os.Stat(s.Dir); err != nil {
			return nil, fmt.Errorf("guardian: Spec.Dir: %w", err)
		}
	}
	if err := becomeSubreaper(); err != nil {
		return nil, err
	}
	c, status, err := launchGuardian(s)
	if err != nil {
		return nil, err
	}
	go c.out.run()
	go c.watch(readReports(status))
	select {
	case <-c.started:
		return c, nil
	case <-ctx.Done():
		_ = c.guardian.Process.Kill() // the watch clears up
		<-c.done
		return nil, fmt.Errorf("guardian: start: %w", context.Cause(ctx))
	case <-c.done:
	}
	select {
	case <-c.started:
		return c, nil // it was a short one
	default:
		return nil, c.exit.Err
	}
}

func launchGuardian(s Spec) (*Child, *os.File, error) {
	first, err := s.hello().line()
	if err != nil {
		return nil, nil, fmt.Errorf("guardian: %w", err)
	}
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("guardian: %w", err)
	}
	defer controlR.Close()
	statusR, statusW, err := os.Pipe()
	if err != nil {
		controlW.Close()
		return nil, nil, fmt.Errorf("guardian: %w", err)
	}
	defer statusW.Close()

	c := newChild(s, newOutbox(controlW, first))
	c.guardian.ExtraFiles = []*os.File{controlR, statusW} // controlFD, statusFD
	guardians.Lock()
	defer guardians.Unlock()
	if err := c.guardian.Start(); err != nil {
		controlW.Close()
		statusR.Close()
		return nil, nil, fmt.Errorf("guardian: can't start the guardian process: %w", err)
	}
	guardians.pids[c.guardian.Process.Pid] = true
	c.birth = birth(c.guardian.Process.Pid)
	return c, statusR, nil
}

func (s *Spec) hello() hello {
	env := s.Env
	if env == nil {
		env = os.Environ()
	}
	env = (&exec.Cmd{Env: env}).Environ() // drops overridden entries
	return hello{Protocol: protocol, Args: bytesOf(s.Args), Env: bytesOf(env), Soft: s.Soft, Hard: s.Hard}
}

// command is how the guardian is executed.
func (s *Spec) command() (cmd *exec.Cmd, detached bool) {
	self := s.Self
	if self == nil {
		self = []string{executable(), Subcommand}
	}
	cmd = &exec.Cmd{
		Path: self[0], Args: append([]string{"tenure"}, self[1:]...),
		Env: bareEnv(os.Environ()), Dir: s.Dir,
		Stdout: orElse(s.Stdout, os.Stdout), Stderr: orElse(s.Stderr, os.Stderr),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	in := orElse(s.Stdin, os.Stdin)
	if isTerminal(in) {
		return cmd, true // exec opens the null device
	}
	cmd.Stdin = in
	return cmd, false
}

// executable is this binary. On Linux it is the very file that is running, also
// when an upgrade has replaced or removed it.
func executable() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// bareEnv keeps what the Go runtime and the dynamic linker need. A list of what
// to keep can't miss a secret, as a list of what to strip could.
func bareEnv(env []string) []string {
	keep := []string{"GODEBUG=", "GOMAXPROCS=", "GOMEMLIMIT=", "GOTRACEBACK=", "GORACE=", "GOCOVERDIR=", "LD_LIBRARY_PATH=", "DYLD_LIBRARY_PATH="}
	bare := []string{} // not nil, which exec takes for all
	for _, e := range env {
		for _, k := range keep {
			if strings.HasPrefix(e, k) {
				bare = append(bare, e)
			}
		}
	}
	return bare
}

func isTerminal(f *os.File) bool {
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	is := false
	_ = c.Control(func(fd uintptr) {
		_, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
		is = err == nil
	})
	return is
}

func orElse(f, standard *os.File) *os.File {
	if f != nil {
		return f
	}
	return standard
}

func bytesOf(ss []string) [][]byte {
	bs := make([][]byte, len(ss))
	for i, s := range ss {
		bs[i] = []byte(s)
	}
	return bs
}
