package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/tenure-go/tenure/internal/guardian"
)

// catch takes over the signals that a wrapper has to pass on or act upon. Ignored ones stay ignored, so that nohup works.
func catch() (<-chan os.Signal, func()) {
	// PIPE is caught so that a reader of our logs who goes away doesn't kill us; caught and not ignored, which the command would inherit.
	wanted := append(guardian.Forwarded(), syscall.SIGTERM, syscall.SIGPIPE)
	c := make(chan os.Signal, 64)
	signal.Notify(c, wanted...)
	return c, func() { signal.Stop(c) }
}

// ends reports a signal that asks to step down.
func ends(s os.Signal) bool { return s == syscall.SIGTERM || s == os.Interrupt }

// endsIdle reports a signal that asks to exit while no command runs: what would go to the command then has its usual meaning.
func endsIdle(s os.Signal) bool {
	return ends(s) || slices.Contains([]os.Signal{syscall.SIGHUP, syscall.SIGQUIT}, s)
}

// signalCode is the exit code of a process that was ended by a signal, as shells have it.
func signalCode(s os.Signal) int {
	n, _ := s.(syscall.Signal)
	return 128 + int(n)
}
