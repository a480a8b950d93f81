package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/tenure-go/tenure/backend"
)

// creating is held from a file's creation to the close of the descriptor: a close drops all locks of the process on the file, so no other store of this process may have
// come to it by then.
var creating sync.Mutex

// makeFolder makes the file's folder for this user alone, if it doesn't exist. More than one missing level is a mistyped path rather than a wish.
func makeFolder(path string) error {
	dir := filepath.Dir(path)
	err := os.Mkdir(dir, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // what it is will show
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the folder %s doesn't exist: check the path, or make the folder", backend.ErrInvalid, filepath.Dir(dir))
	}
	return classify(err)
}

// ensureFile makes an empty file for this user alone, if there is none: SQLite would let everybody read it. SQLite gives the -wal and -shm the same mode.
func ensureFile(path string) error {
	creating.Lock()
	defer creating.Unlock()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return classify(err)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is a symbolic link to a file that doesn't exist", backend.ErrInvalid, path)
	}
	if err != nil {
		return classify(err)
	}
	switch {
	case info.IsDir():
		return fmt.Errorf("%w: %s is a folder; name a file in it, such as %s", backend.ErrInvalid, path, filepath.Join(path, "tenure.db"))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file", backend.ErrInvalid, path)
	}
	return nil
}

// classify marks what the user must change about a path.
func classify(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", backend.ErrDenied, err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", backend.ErrInvalid, err)
	}
	return err
}

// lookAround lists what is dangerous about the file. It changes nothing: a group of users may share it on purpose.
func lookAround(path string) []string {
	var warnings []string
	if info, err := os.Stat(path); err == nil && posixModes && info.Mode().Perm()&0o077 != 0 {
		warnings = append(warnings, fmt.Sprintf("%s is open to other users (mode %#o), who could end or take a lease; run chmod 600 on it and its -wal and -shm, unless their processes are candidates too.",
			path, info.Mode().Perm()))
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err == nil && posixModes && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		warnings = append(warnings, fmt.Sprintf("the folder %s lets every user replace the file (mode %#o); run chmod o-w on it.", dir, info.Mode().Perm()))
	}
	return warnings
}
