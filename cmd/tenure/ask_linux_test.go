package main

import (
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// onStores runs a test on stores with a roster: a file and a server.
func onStores(t *testing.T, f func(t *testing.T, s setting)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); f(t, sqlite(t)) })
	t.Run("redis", func(t *testing.T) { t.Parallel(); f(t, setting{store: testenv.Redis(t).URL()}) })
}

// leads waits until a candidate leads.
func leads(t *testing.T, s setting, id string) {
	t.Helper()
	store := s.open(t)
	eventually(t, id+" leads", func() bool {
		r, err := store.Get(t.Context(), election)
		return err == nil && r.Holder.ID == id
	})
}

func (s setting) open(t *testing.T) backend.LeaseStore {
	t.Helper()
	store, err := backend.Open(t.Context(), s.store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// entries counts what is in the roster.
func entries(t *testing.T, store backend.LeaseStore) int {
	t.Helper()
	roster, _ := backend.As[backend.Roster](store)
	list, err := roster.Candidates(context.WithoutCancel(t.Context()), election)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// stander starts 'tenure run' and waits until it is listed.
func stander(t *testing.T, s setting, id string, flags ...string) *process {
	t.Helper()
	flags = append([]string{"--election", election, "--id", id, "--ttl", "3s"}, flags...)
	p := s.start(t, command(flags, child("tell", "terminated")...)...)
	if store := s.open(t); !strings.Contains(strings.Join(flags, " "), "--listed=false") {
		roster, _ := backend.As[backend.Roster](store)
		eventually(t, id+" is listed", func() bool {
			list, err := roster.Candidates(t.Context(), election)
			for _, e := range list {
				if e.Candidate.ID == id {
					return true
				}
			}
			return err != nil
		})
	}
	return p
}

// An operator names the next leader; the old one's command is told to end, and stands by afterwards.
func TestHandover(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s setting) {
		a := stander(t, s, "a")
		a.says("ready")
		stander(t, s, "b")
		stander(t, s, "c")
		p := s.start(t, "handover", election, "--to", "c", "--reason", "a new disk")
		if p.code() != exitOK || !strings.HasPrefix(p.stdout.String(), `c leads "night shift" under token `) || !strings.Contains(p.stderr.String(), "asked the leader, which looks about once per TTL leader=a ttl=3s") {
			t.Errorf("exit code %d, said %q and %q", p.code(), p.stdout.String(), p.stderr.String())
		}
		leads(t, s, "c")
		a.says("got terminated")
		a.logs("a new disk")
		if strings.Contains(a.stderr.String(), "lost the lease") {
			t.Error("it is told as a loss")
		}
		if n := entries(t, s.open(t)); n != 3 {
			t.Errorf("%d entries are listed; the request should be gone and all three candidates there", n)
		}
		again := s.start(t, "handover", election, "--to", "c", "--json")
		var got standing
		if err := json.Unmarshal([]byte(output2(again)), &got); err != nil || again.code() != exitOK || got.Holder != "c" {
			t.Errorf("exit code %d, %v: %s", again.code(), err, again.stdout.String())
		}
	})
}

func output2(p *process) string {
	p.code()
	return p.stdout.String()
}

func TestStepdown(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s setting) {
		a := stander(t, s, "a")
		a.says("ready")
		alone := s.start(t, "stepdown", election)
		if alone.code() != exitOK || !strings.Contains(alone.stderr.String(), "nobody else stands by") || !strings.HasPrefix(alone.stdout.String(), "a has stepped down and leads again ") {
			t.Errorf("exit code %d, said %q and %q", alone.code(), alone.stdout.String(), alone.stderr.String())
		}
		stander(t, s, "b")
		p := s.start(t, "stepdown", election, "--reason", "kernel update", "--away", "1h")
		if p.code() != exitOK || !strings.HasPrefix(p.stdout.String(), `b leads "night shift" under token `) {
			t.Errorf("exit code %d, said %q and %q", p.code(), p.stdout.String(), p.stderr.String())
		}
		a.logs("kernel update")
	})
}

// What can't be done is refused at once, with what to do.
func TestRequestsThatCantBeMet(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	s.start(t, command([]string{"--election", election}, child("exit", "0")...)...).code()
	if p := s.start(t, "stepdown", election); p.code() != exitNobody || !strings.Contains(p.stderr.String(), "nobody leads") {
		t.Errorf("exit code %d, said %q", p.code(), p.stderr.String())
	}
	a := stander(t, s, "a", "--listed=false")
	a.says("ready")
	for _, args := range [][]string{{"stepdown", election}, {"handover", election, "--to", "b"}} {
		if p := s.start(t, args...); p.code() != exitBusy || !strings.Contains(p.stderr.String(), "not listed, so it can't be asked") || !strings.Contains(p.stderr.String(), "force-release") {
			t.Errorf("exit code %d, said %q", p.code(), p.stderr.String())
		}
	}
	a.end()
	b := stander(t, s, "b")
	b.says("ready")
	if p := s.start(t, "handover", election, "--to", "nobody"); p.code() != exitBusy || !strings.Contains(p.stderr.String(), "nobody is not listed as a candidate") {
		t.Errorf("exit code %d, said %q", p.code(), p.stderr.String())
	}
}

// A leader that doesn't look is waited for no longer than was said, and then, or after Ctrl-C, nothing is left of the request.
func TestARequestIsWithdrawn(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	a := s.start(t, command([]string{"--election", election, "--id", "a", "--ttl", "10m"}, child("tell", "terminated")...)...)
	a.says("ready")
	store := s.open(t)
	eventually(t, "a listed candidate", func() bool { return entries(t, store) == 1 })
	a.send(syscall.SIGSTOP)
	late := s.start(t, "stepdown", election, "--timeout", "1s")
	if late.code() != exitBusy || !strings.Contains(late.stderr.String(), "has not answered within 1s") {
		t.Errorf("exit code %d, said %q", late.code(), late.stderr.String())
	}
	if n := entries(t, store); n != 1 {
		t.Errorf("%d entries are listed after the time-out", n)
	}
	p := s.start(t, "stepdown", election)
	eventually(t, "a request", func() bool { return entries(t, store) == 2 })
	p.logs("asked the leader")
	p.send(syscall.SIGINT)
	if p.code() != 130 || !strings.Contains(p.stderr.String(), "withdrawn") || entries(t, store) != 1 {
		t.Errorf("exit code %d, said %q", p.code(), p.stderr.String())
	}
	a.send(syscall.SIGCONT)
	if r, err := store.Get(t.Context(), election); err != nil || r.Holder.ID != "a" {
		t.Errorf("%v, %v", r, err)
	}
}

// A candidate with a higher priority takes over when the leader's command has ended; its work isn't cut off.
func TestPriority(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s setting) {
		a := stander(t, s, "a", "--ttl", "2s")
		a.says("ready")
		b := stander(t, s, "b", "--ttl", "2s", "--priority", "2", "--attr", "version=2", "--attr", "zone=north")
		b.says("ready")
		a.says("got terminated")
		a.logs("which is preferred: its score is 2, this one's 0")
		if strings.Contains(a.stderr.String(), "lost the lease") {
			t.Error("it is told as a loss")
		}
		p := s.start(t, "candidates", election)
		if p.code() != exitOK || !strings.Contains(p.stdout.String(), "version=2 zone=north") {
			t.Errorf("exit code %d, said %q", p.code(), p.stdout.String())
		}
		b.send(syscall.SIGTERM)
		eventually(t, "the old one leads again", func() bool { return strings.Count(a.stdout.String(), "ready") == 2 })
		once := stander(t, s, "c", "--once", "--priority", "1", "--ttl", "2s")
		once.says("ready")
		stander(t, s, "d", "--priority", "3", "--ttl", "2s")
		if once.code() != exitLost || !strings.Contains(once.stderr.String(), "the election was given up") {
			t.Errorf("exit code %d", once.code())
		}
	})
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s setting) {
		if p := s.start(t, "candidates", "other"); s.store[:5] == "redis" && (p.code() != exitNobody || p.stdout.String() != "") {
			t.Errorf("exit code %d, said %q", p.code(), p.stdout.String())
		}
		stander(t, s, "a b", "--address", "http://a").says("ready")
		stander(t, s, "b", "--priority", "0", "--attr", "zone=x y")
		p := s.start(t, "candidates", election)
		text := output2(p)
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if p.code() != exitOK || len(lines) != 3 || !strings.HasPrefix(lines[0], "CANDIDATE ") || !strings.HasPrefix(lines[1], `"a b"`) || !strings.Contains(lines[1], "leads") ||
			!strings.Contains(lines[1], "http://a") || !strings.Contains(lines[2], "ready") || !strings.Contains(lines[2], `zone="x y"`) {
			t.Errorf("exit code %d, said\n%s", p.code(), text)
		}
		var states []string
		for line := range strings.Lines(output2(s.start(t, "candidates", "--election", election, "--json"))) {
			var got listed
			if err := json.Unmarshal([]byte(line), &got); err != nil || got.Election != election || got.Since == nil || time.Since(*got.Since) > time.Hour {
				t.Errorf("%v: %s", err, line)
			}
			states = append(states, got.Candidate+" "+got.State)
		}
		if got := strings.Join(states, ", "); got != "a b leads, b ready" {
			t.Error(got)
		}
	})
}
