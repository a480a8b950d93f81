//go:build linux || darwin

package main

import (
	"errors"
	"os"
	"syscall"
)

// lock waits for the lock on a file. It is given back when the file is closed, also by the death of the process.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
