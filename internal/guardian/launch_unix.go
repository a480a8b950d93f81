//go:build linux || darwin

package guardian

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Codes of the report "failed".
const (
	codeTooLate  = 0
	codeSetup    = 1
	codeNotExec  = 126
	codeNotFound = 127
)

// launch starts the command in a process group of its own.
func launch(h hello) (pid int, failed *report) {
	args, env := texts(h.Args), texts(h.Env)
	path, err := find(args[0], env)
	if err == nil {
		pid, err = syscall.ForkExec(path, args, &syscall.ProcAttr{
			Env:   env,
			Files: []uintptr{0, 1, 2},
			Sys:   commandAttr(),
		})
	}
	if err != nil {
		return 0, &report{verb: "failed", code: execCode(err), msg: reasonOf(err)}
	}
	return pid, nil
}

// find looks a command up in the PATH of its own environment, not in ours,
// which is bare.
func find(name string, env []string) (string, error) {
	os.Unsetenv("PATH")
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			os.Setenv("PATH", path)
		}
	}
	return exec.LookPath(name)
}

func execCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrDot) {
		return codeNotFound
	}
	return codeNotExec
}

// reasonOf leaves out the name, which ExecError prints.
func reasonOf(err error) string {
	var e *exec.Error
	if errors.As(err, &e) && !errors.Is(err, exec.ErrDot) {
		err = e.Err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

func texts(bs [][]byte) []string {
	ss := make([]string, len(bs))
	for i, b := range bs {
		ss[i] = string(b)
	}
	return ss
}
