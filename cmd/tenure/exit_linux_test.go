package main

import (
	"strings"
	"syscall"
	"testing"
)

const election = "night shift"

func TestCommandsCodeIsPassedOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		line []string
		want int
	}{
		{"0", child("exit", "0"), 0},
		{"7", child("exit", "7"), 7},
		{"125", child("exit", "125"), 125},
		{"killed", []string{"--", "sh", "-c", "kill -KILL $$"}, 137},
		{"ended by HUP", []string{"--", "sh", "-c", "kill -HUP $$"}, 129},
		{"not found", []string{"--", "tenure-no-such-command"}, 127},
		{"not executable", []string{"--", "/dev/null"}, 126},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := sqlite(t)
			if got := s.start(t, command([]string{"--election", election}, c.line...)...).code(); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
			nobody(t, s)
		})
	}
}

// nobody checks that nothing was left at the store.
func nobody(t *testing.T, s setting) {
	t.Helper()
	if p := s.start(t, "status", "--election", election); p.code() != exitNobody {
		t.Errorf("somebody still leads:\n%s", p.stdout.String())
	}
}

// leader starts a process that leads until it is ended, and waits for its command.
func leader(t *testing.T, s setting, flags []string, line ...string) (*process, family) {
	t.Helper()
	p := s.start(t, command(append([]string{"--election", election}, flags...), line...)...)
	f := p.family(1)
	p.says("ready")
	return p, f
}

func TestSomebodyElseLeads(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	leader(t, s, nil, child("tell", "terminated")...)
	for _, wait := range []string{"0s", "50ms"} {
		p := s.start(t, command([]string{"--election", election, "--wait", wait}, child("exit", "0")...)...)
		if p.code() != exitBusy || !strings.Contains(p.stderr.String(), "somebody else leads") {
			t.Errorf("--wait %s: exit code %d", wait, p.code())
		}
	}
	if p := s.start(t, "status", "--election", election); p.code() != exitOK {
		t.Errorf("status: exit code %d", p.code())
	}
}

func TestSignalBeforeLeading(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		want   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}, {syscall.SIGHUP, 129}, {syscall.SIGQUIT, 131}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			s := sqlite(t)
			first, _ := leader(t, s, nil, child("tell", "terminated")...)
			p := s.start(t, command([]string{"--election", election, "--verbose"}, child("exit", "0")...)...)
			p.logs("holder=") // it has seen the leader, and waits
			p.send(syscall.SIGUSR1)
			p.send(c.signal)
			if got := p.code(); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
			first.send(syscall.SIGTERM)
			first.code()
			nobody(t, s)
		})
	}
}

func TestLostWithOnce(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p, f := leader(t, s, []string{"--once"}, child("tell", "terminated")...)
	f.guardian.kill()
	if got := p.code(); got != exitLost {
		t.Errorf("exit code %d", got)
	}
	gone(t, "a killed guardian", f.guardian, f.child)
	nobody(t, s)
}

func TestStoreNotAvailable(t *testing.T) {
	t.Parallel()
	away := setting{store: "redis://127.0.0.1:1/0"} // nobody listens there
	for _, args := range [][]string{
		command([]string{"--election", election, "--wait", "0s"}, child("exit", "0")...),
		command([]string{"--election", election, "--wait", "50ms"}, child("exit", "0")...),
		command([]string{"--election", election, "--once", "--ttl", "1600ms"}, child("exit", "0")...),
		{"status", "--election", election},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			if p := away.start(t, args...); p.code() != exitUnavailable || !strings.Contains(p.stderr.String(), "store") {
				t.Errorf("exit code %d", p.code())
			}
		})
	}
}

func TestNothingEndsTheWaitForAStoreByDefault(t *testing.T) {
	t.Parallel()
	p := setting{store: "redis://127.0.0.1:1/0"}.start(t, command([]string{"--election", election, "--ttl", "1600ms", "--verbose"}, child("exit", "0")...)...)
	eventually(t, "several attempts", func() bool { return strings.Count(p.stderr.String(), "elector: failed") > 3 })
	if strings.Count(p.stderr.String(), "does not answer") != 1 {
		t.Error("there is not one warning")
	}
	p.send(syscall.SIGTERM)
	if got := p.code(); got != 143 {
		t.Errorf("exit code %d", got)
	}
}
