package sqlite

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// sharedFileSystem returns the kind of the file system if other hosts may share it, and otherwise nothing.
func sharedFileSystem(path string) (string, error) {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(path) + `\`)
	if err != nil {
		return "", err
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "network drive", nil
	}
	return "", nil
}
