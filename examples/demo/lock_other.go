//go:build !linux && !darwin

package main

import (
	"errors"
	"os"
)

func lock(*os.File) error { return errors.ErrUnsupported }
