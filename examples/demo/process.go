package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// asCandidate is the first argument with which the demo starts itself as a candidate.
const asCandidate = "candidate"

// process is a candidate as the demo sees it.
type process struct {
	name, id string
	cmd      *exec.Cmd
	stdin    io.Closer     // stays open while the demo lives
	asked    atomic.Bool   // the demo has killed it or asked it to end
	killed   atomic.Bool   // with SIGKILL
	ended    chan struct{} // closed when it has ended
	err      error         // how, once it has
}

// launch starts a candidate. When ctx ends it is asked to end, and killed if it doesn't.
func launch(ctx context.Context, name, folder string, say func(text string)) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: exec.CommandContext(ctx, self, asCandidate, name, folder), ended: make(chan struct{})}
	p.cmd.Cancel = func() error { return p.terminate() }
	p.cmd.WaitDelay = 5 * time.Second
	output := &lineWriter{say: say}
	p.cmd.Stdout, p.cmd.Stderr = output, output
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.id = candidateID(name, p.cmd.Process.Pid)
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// terminate asks the process to end.
func (p *process) terminate() error {
	p.asked.Store(true)
	return p.cmd.Process.Signal(syscall.SIGTERM)
}

// kill ends the process at once.
func (p *process) kill() error {
	p.asked.Store(true)
	p.killed.Store(true)
	return p.cmd.Process.Kill()
}

func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// failure tells, once the process has ended, what was wrong with its end.
func (p *process) failure() error {
	switch {
	case p.killed.Load():
		return nil
	case p.err != nil:
		return fmt.Errorf("%s ended badly: %w", p.name, p.err)
	case !p.asked.Load():
		return fmt.Errorf("%s ended by itself", p.name)
	}
	return nil
}

// lineWriter passes on what is written to it, line by line.
type lineWriter struct {
	say  func(text string)
	rest []byte
}

// Write implements io.Writer.
func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(b), nil
		}
		w.say(string(line))
		w.rest = rest
	}
}
