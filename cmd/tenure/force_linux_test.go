package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An election is taken from a leader that can't be asked: nobody is elected for a TTL, then the one that stands by, under a greater token; the audit tells who, why and what.
func TestForceRelease(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s setting) {
		a := stander(t, s, "a", "--ttl", "8s")
		a.says("ready")
		b := stander(t, s, "b", "--ttl", "8s")
		first := fields(a.stderr.String(), "token")[0]
		a.send(syscall.SIGSTOP)
		audit := filepath.Join(t.TempDir(), "audit")
		p := s.start(t, "force-release", election, "--yes", "--reason", "it \"hangs\"\n", "--audit", audit, "--json")
		if p.code() != exitOK {
			t.Fatalf("exit code %d, said %q", p.code(), p.stderr.String())
		}
		r, err := s.open(t).Get(t.Context(), election)
		if err != nil || r.Held() || r.Reserved.To != "" || r.Reserved.For <= 0 || r.Reserved.For > 8*time.Second {
			t.Errorf("%v, %v: it should be kept for nobody", r, err)
		}
		var printed audited
		if err := json.Unmarshal([]byte(p.stdout.String()), &printed); err != nil {
			t.Error(err)
		}
		if printed.Outcome != "released" || printed.Election != election || printed.Holder != "a" || printed.Token != int64(first) || !strings.Contains(printed.By, "@") || printed.Reason != "it \"hangs\"\n" {
			t.Errorf("printed %+v", printed)
		}
		checkAudit(t, audit, "begun", "released")
		b.says("ready")
		if second := fields(b.stderr.String(), "token")[0]; second <= first {
			t.Errorf("token %d after %d", second, first)
		}
		a.send(syscall.SIGCONT)
		a.logs("lost the lease")
	})
}

func checkAudit(t *testing.T, path string, outcomes ...string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != len(outcomes) {
		t.Fatalf("the audit has %d lines:\n%s", len(lines), text)
	}
	for i, line := range lines {
		var got audited
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Outcome != outcomes[i] || got.Time.IsZero() || got.Attempt == "" {
			t.Errorf("%v: %s", err, line)
		}
	}
}

// What isn't wanted for sure, or can't be audited, isn't done.
func TestForceReleaseIsNotDone(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	s.start(t, command([]string{"--election", election}, child("exit", "0")...)...).code()
	audit := filepath.Join(t.TempDir(), "audit")
	if p := s.start(t, "force-release", election, "--yes", "--reason", "x", "--audit", audit); p.code() != exitNobody || !strings.Contains(p.stderr.String(), "nobody leads") {
		t.Errorf("exit code %d, said %q", p.code(), p.stderr.String())
	}
	if _, err := os.Stat(audit); err == nil {
		t.Error("something was audited")
	}
	a, _ := leader(t, s, []string{"--ttl", "1m"}, child("tell", "terminated")...)
	for _, c := range []struct {
		args []string
		want int
		text string
	}{
		{[]string{"--reason", "x"}, exitNobody, "that is not the name"}, // the null device has nothing to say
		{[]string{"--reason", "  ", "--yes"}, exitUsage, "--reason is missing"},
		{[]string{"--reason", "x", "--yes", "--audit", "/dev/full"}, exitOutput, "can't be written"},
		{[]string{"--reason", "x", "--yes", "--audit", "/no/such/folder/x"}, exitOutput, "nothing was done"},
	} {
		p := s.start(t, append([]string{"force-release", election}, c.args...)...)
		if p.code() != c.want || !strings.Contains(p.stderr.String(), c.text) {
			t.Errorf("%q: exit code %d, said %q", c.args, p.code(), p.stderr.String())
		}
	}
	if r, err := s.open(t).Get(t.Context(), election); err != nil || !r.Held() {
		t.Errorf("%v, %v", r, err)
	}
	a.send(syscall.SIGTERM)
	a.code()
}

func TestListAndForget(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s setting) {
		for _, name := range []string{"old 1", "old 2"} {
			s.start(t, command([]string{"--election", name}, child("exit", "0")...)...).code()
		}
		a, _ := leader(t, s, []string{"--id", "a", "--ttl", "1m"}, child("tell", "terminated")...)
		p := s.start(t, "list")
		if text := output2(p); p.code() != exitOK || strings.Count(text, "\n") != 4 || !strings.Contains(text, `"night shift"  a `) || !strings.Contains(text, `"old 1"        nobody`) {
			t.Errorf("exit code %d, said\n%s", p.code(), text)
		}
		if text := output2(s.start(t, "list", "--json")); strings.Count(text, `"held":false`) != 2 || strings.Count(text, `"held":true`) != 1 {
			t.Error(text)
		}
		before, err := s.open(t).Get(t.Context(), "old 1")
		if err != nil {
			t.Fatal(err)
		}
		p = s.start(t, "forget", "old 1", election, "never")
		if text := output2(p); p.code() != exitBusy || text != "\"old 1\"  forgotten\n\"night shift\"  kept: a leads\nnever  no record\n" {
			t.Errorf("exit code %d, said\n%s", p.code(), text)
		}
		if text := output2(s.start(t, "list", "--json")); strings.Contains(text, "old 1") {
			t.Error(text)
		}
		again := s.start(t, command([]string{"--election", "old 1"}, child("exit", "0")...)...)
		again.code()
		if token := fields(again.stderr.String(), "token")[0]; int64(token) <= before.Token {
			t.Errorf("token %d after %d", token, before.Token)
		}
		// One that has had a term while it was watched is kept.
		p = s.start(t, "forget", "old 2", "--unchanged-for", "5s", "--json")
		p.logs("waiting whether a term begins")
		s.start(t, command([]string{"--election", "old 2"}, child("exit", "0")...)...).code()
		if text := output2(p); p.code() != exitBusy || !strings.Contains(text, "meanwhile") {
			t.Errorf("exit code %d, said\n%s", p.code(), text)
		}
		p = s.start(t, "forget", "old 2", "--unchanged-for", "50ms")
		if text := output2(p); p.code() != exitOK || text != "\"old 2\"  forgotten\n" {
			t.Errorf("exit code %d, said\n%s", p.code(), text)
		}
		a.send(syscall.SIGTERM)
	})
}
