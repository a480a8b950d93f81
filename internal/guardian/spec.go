package guardian

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// BootTime is a moment in nanoseconds on the host's boot clock, see [clock.Boot].
type BootTime int64

// Now reads the boot clock.
func Now() BootTime {
	ns, _ := clock.Boot()
	return BootTime(ns)
}

// Add returns the moment d later. It stops at the ends of the range.
func (t BootTime) Add(d time.Duration) BootTime {
	switch sum := t + BootTime(d); {
	case d > 0 && sum < t:
		return math.MaxInt64
	case d < 0 && sum > t:
		return math.MinInt64
	default:
		return sum
	}
}

// Sub returns the time from u to t.
func (t BootTime) Sub(u BootTime) time.Duration { return time.Duration(t - u) }

// Spec says what to run and until when.
type Spec struct {
	// Args is the command line. Args[0] is looked up in the PATH of Env.
	Args []string
	// Env is the command's environment. Nil means the wrapper's own. Of entries
	// with the same name the last one counts.
	Env []string
	// Dir is the working directory. Empty means the wrapper's own.
	Dir string

	// Stdin, Stdout and Stderr are passed on as they are. Nil means the wrapper's own.
	Stdin, Stdout, Stderr *os.File

	// Soft is when the command is asked to end, Hard when it is killed.
	Soft, Hard BootTime

	// Self is how to execute this binary as guardian. Nil means the running
	// executable with [Subcommand]. Only tests need another.
	Self []string

	boot  func() BootTime // nil means Now; tests step it
	stall time.Duration   // zero means stallGrace
}

func (s *Spec) validate() error {
	var problems []error
	if len(s.Args) == 0 || s.Args[0] == "" {
		problems = append(problems, errors.New("guardian: Spec.Args: no command is given"))
	}
	if s.Hard <= 0 {
		problems = append(problems, errors.New("guardian: Spec.Hard: a deadline is needed"))
	}
	if s.Soft > s.Hard {
		problems = append(problems, fmt.Errorf("guardian: Spec.Soft: %d is after Spec.Hard %d", s.Soft, s.Hard))
	}
	return errors.Join(problems...)
}

// Reason says why a command ended.
type Reason string

// The reasons. Each but Exited means that the command was told to end.
const (
	Exited       Reason = "exited"        // it ended by itself
	Stopped      Reason = "stopped"       // Stop was called
	SoftDeadline Reason = "soft-deadline" // the soft deadline passed
	HardDeadline Reason = "hard-deadline" // it was still there at the hard deadline
	WrapperGone  Reason = "wrapper-gone"  // the wrapper died; no wrapper ever sees this one
	GuardianLost Reason = "guardian-lost" // the guardian died; Exit.Err is ErrGuardianLost
)

// Exit is how a command ended.
type Exit struct {
	// Code is the command's exit code, or 128+n if it was killed by signal n.
	Code int
	// Signal is the signal that killed it, or zero.
	Signal syscall.Signal
	// Reason is why it ended.
	Reason Reason
	// Err is nil unless the guardian failed.
	Err error
}

var (
	// ErrGuardianLost is in Exit.Err when the guardian died or stalled past the
	// deadline. The command and its descendants have been ended; campaign again.
	ErrGuardianLost = errors.New("guardian: the guardian process was lost")
	// ErrDeadlinePassed is returned by Start when the soft deadline has passed
	// before the command was started. Nothing ran; campaign again.
	ErrDeadlinePassed = errors.New("guardian: the deadline passed before the command was started")
	// ErrUnsupported is matched by the error of Start on systems without process
	// handling. Use the library instead of the command there.
	ErrUnsupported = errors.New("guardian: running a command under a lease is not supported")
)

// ExecError says that the command could not be started.
type ExecError struct {
	// Code is the shell's convention: 127 not found, 126 found but not executable.
	Code int
	// Name is the command as given.
	Name string
	// Msg is the system's reason.
	Msg string
}

func (e *ExecError) Error() string {
	return fmt.Sprintf("guardian: can't run %q: %s", e.Name, e.Msg)
}
