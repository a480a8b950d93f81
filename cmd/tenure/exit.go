package main

import "fmt"

// Exit codes, from sysexits.h where it has a fitting one, so that they stay clear of what programs return. A program's own code, and 126, 127 and 128+n as in the shell, are
// passed on.
const (
	exitOK          = 0
	exitNobody      = 1
	exitUsage       = 64
	exitUnavailable = 69
	exitInternal    = 70
	exitSystem      = 71
	exitOutput      = 74
	exitBusy        = 75
	exitLost        = 76
)

// exitError ends the process with a code. Without err it does so silently.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func exit(code int, format string, args ...any) *exitError {
	return &exitError{code: code, err: fmt.Errorf(format, args...)}
}

// written says how to exit after output was written.
func written(err error) error {
	if err == nil {
		return nil
	}
	return exit(exitOutput, "the output can't be written: %w", err)
}

func usage(format string, args ...any) *exitError { return exit(exitUsage, format, args...) }
