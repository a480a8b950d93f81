//go:build !unix

package testenv

import (
	"os"
	"syscall"
)

// There are no such signals here: sending one fails, and so does the test that freezes a server.
const (
	sigstop = syscall.Signal(0x13)
	sigcont = syscall.Signal(0x12)
)

func attributes(*account) *syscall.SysProcAttr { return nil }

func children(int) []*os.Process { return nil }

func goesOn(*os.Process) bool { return false }
