//go:build !linux && !darwin

package guardian

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"
)

// Child is a command that runs under a lease. There are none on this system.
type Child struct{}

// Start returns an error that matches [ErrUnsupported].
func Start(context.Context, Spec) (*Child, error) {
	return nil, fmt.Errorf("%w on %s", ErrUnsupported, runtime.GOOS)
}

// Forwarded is empty.
func Forwarded() []os.Signal { return nil }

// Pid returns 0.
func (*Child) Pid() int { return 0 }

// GuardianPid returns 0.
func (*Child) GuardianPid() int { return 0 }

// StdinDetached returns false.
func (*Child) StdinDetached() bool { return false }

// Extend does nothing.
func (*Child) Extend(_, _ BootTime) {}

// Signal returns ErrUnsupported.
func (*Child) Signal(os.Signal) error { return ErrUnsupported }

// Stop does nothing.
func (*Child) Stop(time.Duration) {}

// Done returns nil.
func (*Child) Done() <-chan struct{} { return nil }

// Wait returns an Exit with ErrUnsupported.
func (*Child) Wait() Exit { return Exit{Err: ErrUnsupported} }

func serve(func() BootTime) int { return 64 }
