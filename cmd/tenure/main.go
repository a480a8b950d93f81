package main

import (
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/tenure-go/tenure/internal/guardian"
)

func main() {
	if guardian.IsGuardian(os.Args) { // first of all: a guardian reads no flags and opens no store
		os.Exit(guardian.Main())
	}
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns the exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	app := &app{stdout: stdout, stderr: stderr}
	root := app.root()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	var e *exitError
	if !errors.As(err, &e) {
		// From the flag library. It may show an argument, and that may be a URL with a password.
		e = usage("the command line makes no sense; see 'tenure help'")
	}
	if e.err != nil {
		app.logger(slog.LevelError).Error(e.Error()) //nolint:sloglint // the last words are the error itself
	}
	return e.code
}
