package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/internal/worklog"
)

// childMain is a command under a lease.
func childMain(what string, args []string) error {
	switch what {
	case "exit":
		code, err := strconv.Atoi(args[0])
		if err == nil {
			os.Exit(code)
		}
		return err
	case "env": // tells what tenure puts into the environment
		for _, e := range os.Environ() {
			if strings.HasPrefix(e, "TENURE_") {
				fmt.Println(e)
			}
		}
		return nil
	case "work":
		return work(args)
	case "chaos":
		return chaosChild(args[0], args[1])
	case "tell": // tells signals; ends on the one that is named
		tell(args[0])
		return nil
	case "family": // has a descendant in a session of its own
		cmd := exec.Command("/proc/self/exe", "__child", "tell", "none")
		cmd.Stdout, cmd.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		tell("terminated")
		return nil
	}
	return fmt.Errorf("unknown part %q", what)
}

// tell writes each signal that it gets, and ends on the one that is named.
func tell(last string) {
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH)
	fmt.Println("ready", os.Getpid())
	for s := range c {
		fmt.Println("got", s)
		if s.String() == last {
			return
		}
	}
}

// work keeps a work log until TERM, and takes a while to stop.
func work(args []string) error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	token, err := strconv.ParseInt(os.Getenv("TENURE_TOKEN"), 10, 64)
	if err != nil {
		return err
	}
	toStop, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	log, err := worklog.Open(args[0], token)
	if err != nil {
		return err
	}
	defer log.Close()
	stopped, done := context.WithCancel(context.Background())
	defer done()
	context.AfterFunc(ctx, func() { time.AfterFunc(toStop, done) })
	return log.Work(stopped, 10*time.Millisecond)
}
