package main

import (
	"strings"
	"syscall"
	"testing"
)

func TestStepDown(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := sqlite(t)
			p, f := leader(t, s, nil, child("tell", sig.String())...)
			p.send(sig)
			if got := p.code(); got != 0 {
				t.Errorf("exit code %d, want the command's", got)
			}
			if !strings.HasSuffix(p.stdout.String(), "got "+sig.String()+"\n") {
				t.Errorf("the command wrote %q", p.stdout.String())
			}
			gone(t, "a step-down", f.guardian, f.child)
			nobody(t, s)
		})
	}
}

func TestGraceEndsWithKill(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := sqlite(t)
			p, _ := leader(t, s, []string{"--grace", "50ms"}, child("tell", "none")...)
			p.send(sig)
			if got := p.code(); got != 137 {
				t.Errorf("exit code %d", got)
			}
			nobody(t, s)
		})
	}
}

// Ctrl-C gives what it gives without tenure.
func TestInterruptedCommandsCode(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p := s.start(t, command([]string{"--election", election}, "--", "sleep", "1000")...)
	p.logs("started")
	p.send(syscall.SIGINT)
	if got := p.code(); got != 130 {
		t.Errorf("exit code %d", got)
	}
	nobody(t, s)
}

func TestSecondTermKills(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p, _ := leader(t, s, []string{"--grace", "1h"}, child("tell", "none")...)
	p.send(syscall.SIGTERM)
	p.says("got terminated")
	p.send(syscall.SIGTERM)
	if got := p.code(); got != 137 {
		t.Errorf("exit code %d", got)
	}
	nobody(t, s)
}

func TestSignalsReachTheCommand(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p, _ := leader(t, s, nil, child("tell", "terminated")...)
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH} {
		p.send(sig)
		p.says("got " + sig.String() + "\n")
	}
	p.send(syscall.SIGTERM)
	if got := p.code(); got != 0 {
		t.Errorf("exit code %d", got)
	}
}

// The lease outlives the step-down of a slow command: it is renewed until the command and its descendants are gone.
func TestDescendantsEndBeforeTheRelease(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p, f := leader(t, s, []string{"--ttl", "1600ms", "--grace", "3s"}, child("family")...)
	eventually(t, "both", func() bool { return strings.Count(p.stdout.String(), "ready") == 2 })
	var all []held
	for line := range strings.Lines(p.stdout.String()) {
		for _, pid := range fields(strings.Replace(line, "ready ", "pid=", 1), "pid") {
			all = append(all, hold(t, pid))
		}
	}
	p.send(syscall.SIGTERM) // the descendant ignores it
	next := s.start(t, command([]string{"--election", election, "--ttl", "1600ms"}, child("tell", "terminated")...)...)
	next.says("ready")
	for _, h := range append(all, f.child, f.guardian) {
		if !h.ended(0) {
			t.Errorf("the next leader works while process %d of the last one is there", h.pid)
		}
	}
	if p.code() != 0 {
		t.Errorf("exit code %d", p.code())
	}
}

func TestReaderOfLogsGoesAway(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p, _ := leader(t, s, nil, child("tell", "terminated")...)
	p.send(syscall.SIGPIPE)
	p.send(syscall.SIGUSR1)
	p.says("got " + syscall.SIGUSR1.String())
}
