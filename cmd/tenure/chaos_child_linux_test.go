package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// chaosCode is what a command exits with that ends by itself.
const chaosCode = 3

// chaosChild is a command under a lease that behaves in one of several ways. Beside what works it writes nothing.
func chaosChild(kind, path string) error {
	switch kind {
	case "deaf": // hears no TERM
		signal.Ignore(syscall.SIGTERM)
		return work([]string{path, "1h"})
	case "slow":
		return work([]string{path, "700ms"})
	case "exits": // by itself
		time.AfterFunc(3*time.Second/2, func() { os.Exit(chaosCode) })
	case "family", "deaf-family": // lets another work, in a session of its own
		worker := "work"
		if kind == "deaf-family" {
			worker = "deaf"
		}
		cmd, err := another(worker, path)
		if err == nil {
			_ = cmd.Wait() // it may have been killed
		}
		return err
	case "leaves": // the other behind
		_, err := another("deaf", path)
		<-time.After(time.Second)
		return err
	}
	return work([]string{path, "20ms"})
}

func another(kind, path string) (*exec.Cmd, error) {
	cmd := exec.Command("/proc/self/exe", "__child", "chaos", kind, path)
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}
