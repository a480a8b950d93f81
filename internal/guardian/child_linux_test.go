package guardian

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
)

// child is the command line of the test binary as the command.
func child(args ...string) []string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return append([]string{exe, "__child"}, args...)
}

// childMain is a command under a lease. What it does is in args[0].
func childMain(args []string) int {
	switch args[0] {
	case "exit":
		n, _ := strconv.Atoi(args[1])
		return n
	case "kill-self":
		n, _ := strconv.Atoi(args[1])
		syscall.Kill(os.Getpid(), syscall.Signal(n))
		select {}
	case "wait": // ends on TERM
		say("ready", os.Getpid())
		forever()
	case "trap": // tells signals; ends on TERM
		tell(true)
	case "stubborn": // tells signals; ends on KILL
		tell(false)
	case "family": // has a descendant in another session and waits
		stray(args[1:])
		tell(false)
	case "regroup": // joins the group of a child of its own
		kid := start([]string{"stubborn"}, &syscall.SysProcAttr{Setpgid: true})
		if err := syscall.Setpgid(0, kid.Process.Pid); err != nil {
			fmt.Println("setpgid:", err)
		}
		tell(false)
	case "leave": // has one too but ends by itself when its input ends
		stray(args[1:])
		io.Copy(io.Discard, os.Stdin)
		return 3
	case "daemon": // the middle of the double fork
		start(args[1:], &syscall.SysProcAttr{Setsid: true})
	}
	return 0
}

func say(what string, pid int) { fmt.Println(what, pid) }

// forever is not select{}, on which the runtime reports a deadlock.
func forever() {
	syscall.Pause()
	forever()
}

func tell(endOnTerm bool) {
	c := make(chan os.Signal, 16)
	signal.Notify(c, append([]os.Signal{syscall.SIGTERM}, forwarded...)...)
	say("ready", os.Getpid())
	for s := range c {
		fmt.Println("got", s)
		if s == syscall.SIGTERM && endOnTerm {
			return
		}
	}
}

// stray starts a process through a middle one that ends at once. It is in
// a session of its own and has lost its environment.
func stray(kind []string) {
	middle := start(append([]string{"daemon"}, kind...), &syscall.SysProcAttr{Setsid: true})
	if err := middle.Wait(); err != nil {
		fmt.Println("daemon:", err)
	}
}

func start(kind []string, attr *syscall.SysProcAttr) *exec.Cmd {
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: append([]string{"x", "__child"}, kind...),
		Env: []string{}, Stdout: os.Stdout, Stderr: os.Stderr, SysProcAttr: attr,
	}
	if err := cmd.Start(); err != nil {
		fmt.Println(kind, err)
		os.Exit(1)
	}
	return cmd
}
