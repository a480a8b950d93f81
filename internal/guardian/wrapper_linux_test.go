package guardian

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// script is what a wrapper process of a test does.
type script struct {
	Args       []string
	Soft, Hard time.Duration // from the start, and from each renewal
	Renew      time.Duration // how often; zero means never
	Dial       string        // a boot clock that the test steps; empty means the real one
	Self       []string      // see Spec
	Stall      time.Duration // see Spec
	Cancel     bool          // the context of Start ends before the guardian can answer
}

// The wrapper's descriptors.
const (
	newsFD = 3 // where it tells what it knows; the command does not get it
	lifeFD = 4 // the command's output, and the guardian's
)

// wrapperMain is a process with a lease that always renews.
func wrapperMain(arg string) int {
	syscall.CloseOnExec(newsFD)
	syscall.CloseOnExec(lifeFD)
	news, life := os.NewFile(newsFD, "news"), os.NewFile(lifeFD, "life")
	var s script
	if err := json.Unmarshal([]byte(arg), &s); err != nil {
		fmt.Fprintln(news, "error", err)
		return 1
	}
	now := Now()
	spec := Spec{Args: s.Args, Soft: now.Add(s.Soft), Hard: now.Add(s.Hard), Stdout: life, Stderr: life, stall: s.Stall}
	if s.Dial != "" {
		spec.boot, spec.Self = bootFrom(s.Dial), dial{s.Dial}.self()
	}
	if s.Self != nil {
		spec.Self = s.Self
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if s.Cancel {
		spec.Self = []string{"/bin/sh", "-c", "read hello <&3; kill -STOP $$"}
		cancel(errors.New("changed my mind"))
	}
	c, err := Start(ctx, spec)
	if err != nil {
		fmt.Fprintln(news, "error", err)
		return 1
	}
	life.Close()
	fmt.Fprintln(news, "guardian", c.GuardianPid())
	fmt.Fprintln(news, "command", c.Pid())
	hold(c, s)
	b, _ := json.Marshal(told{c.Wait().Code, c.Wait().Reason, fmt.Sprint(c.Wait().Err)})
	fmt.Fprintln(news, "exit", string(b))
	return 0
}

func hold(c *Child, s script) {
	if s.Renew == 0 {
		<-c.Done()
		return
	}
	tick := time.NewTicker(s.Renew)
	defer tick.Stop()
	for {
		select {
		case <-c.Done():
			return
		case <-tick.C:
			c.Extend(Now().Add(s.Soft), Now().Add(s.Hard))
		}
	}
}

// told is an Exit as the wrapper tells it.
type told struct {
	Code   int
	Reason Reason
	Err    string
}

// trio is a running wrapper with guardian and command.
type trio struct {
	wrapper, guardian, command subject
	news, life                 line
}

// startTrio starts a wrapper in a process of its own, so that it can be killed
// and frozen.
func startTrio(t *testing.T, s script) *trio {
	t.Helper()
	news, life, cmd := runWrapper(t, s)
	tr := &trio{news: news, life: life, wrapper: see(t, cmd.Process.Pid)}
	tr.guardian = see(t, tr.news.pid(t, "guardian"))
	tr.command = see(t, tr.news.pid(t, "command"))
	return tr
}

func runWrapper(t *testing.T, s script) (news, life line, cmd *exec.Cmd) {
	t.Helper()
	news, newsW := newLine(t)
	life, lifeW := newLine(t)
	cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"x", "__wrapper", toJSON(t, s)},
		Stdout: os.Stderr, Stderr: os.Stderr, ExtraFiles: []*os.File{newsW, lifeW},
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, // as a shell does
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	newsW.Close()
	lifeW.Close()
	return news, life, cmd
}

// exit is what the wrapper told in the end.
func (tr *trio) exit(t *testing.T) (e told) {
	t.Helper()
	if err := json.Unmarshal([]byte(tr.news.next(t, "exit")), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// ended waits until guardian, command and all descendants are gone.
func (tr *trio) ended(t *testing.T, strays ...subject) {
	t.Helper()
	tr.life.rest(t)
	eventually(t, "guardian, command and descendants are gone", func() bool {
		for _, s := range append(strays, tr.guardian, tr.command) {
			if s.alive() {
				return false
			}
		}
		return true
	})
}
