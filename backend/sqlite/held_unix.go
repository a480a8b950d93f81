//go:build unix

package sqlite

import (
	"os"
	"strconv"
	"syscall"
)

// held reports whether this process has the file open. Where the system doesn't list descriptors, it is taken for granted.
func (i identity) held() bool {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return true
	}
	want, known := i.info.Sys().(*syscall.Stat_t)
	for _, name := range names {
		var st syscall.Stat_t
		if fd, err := strconv.Atoi(name); err == nil && known && syscall.Fstat(fd, &st) == nil && st.Dev == want.Dev && st.Ino == want.Ino {
			return true
		}
	}
	return !known
}
