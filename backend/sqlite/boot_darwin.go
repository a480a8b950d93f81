package sqlite

import "golang.org/x/sys/unix"

// bootID names this run of the kernel and its boot clock; empty when it can't be told.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
