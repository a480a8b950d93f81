package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// sharedFileSystem returns the kind of the file system if other hosts may share it, and otherwise nothing.
func sharedFileSystem(path string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", fmt.Errorf("statfs %s: %w", path, err)
	}
	if st.Flags&unix.MNT_LOCAL != 0 {
		return "", nil
	}
	return unix.ByteSliceToString(st.Fstypename[:]), nil
}
