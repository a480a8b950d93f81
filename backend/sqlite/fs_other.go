//go:build !linux && !darwin && !windows

package sqlite

// sharedFileSystem can't tell on this system; the user must know.
func sharedFileSystem(string) (string, error) { return "", nil }
