//go:build unix

package sqlite

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/backend"
)

// checkAccess refuses a file that this user can't write: SQLite would open it for reading, and the first claim would fail.
func checkAccess(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} { // -wal and -shm come and go in the folder
		if err := unix.Faccessat(unix.AT_FDCWD, p, unix.R_OK|unix.W_OK, unix.AT_EACCESS); err != nil {
			return fmt.Errorf("%w: this user must be able to write %s: %w", backend.ErrDenied, p, err)
		}
	}
	return nil
}
