package sqlite

import (
	"fmt"
	"runtime"

	"github.com/tenure-go/tenure/backend"
)

// posixModes is whether a file's mode says who may use it.
const posixModes = runtime.GOOS != "windows"

// checkFileSystem refuses file systems that other hosts may use too: the log's index is memory shared between processes of one host, and leases expire by its clock.
func checkFileSystem(path string) error {
	kind, err := sharedFileSystem(path)
	if err != nil {
		return err
	}
	if kind == "" {
		return nil
	}
	return refuse(path, kind)
}

func refuse(path, kind string) error {
	return fmt.Errorf("%w: %s is on a file system of kind %s, which other hosts may share; use a file on a local disk, or a store with a server",
		backend.ErrInvalid, path, kind)
}
