//go:build linux || darwin

package custombackend

import (
	"errors"
	"os"
	"syscall"
)

const canLock = true

// tryLock takes the lock on the file at path, which is made if it is missing, or returns nil when another has it. The kernel gives it back when the process dies, however it does.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil && isAt(f, path) {
		return func() { f.Close() }, nil // which gives it back
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		err = nil
	}
	return nil, err
}

// isAt reports whether f is still the file at path. Something may have cleaned up between open and lock, and others lock the new file by now.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}
