package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testenv"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p, _ := leader(t, s, []string{"--id", "host 1", "--address", "http://host1:8080", "--ttl", "1m"}, child("tell", "terminated")...)
	token := fields(p.stderr.String(), "token")[0]
	human := s.start(t, "status", "--election", election)
	want := regexp.MustCompile(`^election +"night shift"\nleader +"host 1"\ncandidate +` + filepath.Base(self()) + ` on .+\naddress +http://host1:8080\ntoken +` + fmt.Sprint(token) +
		`\nremaining +[\d.]+m?s of 1m0s\nleads for +[\d.]+m?s\n$`)
	if human.code() != exitOK || !want.MatchString(human.stdout.String()) {
		t.Errorf("exit code %d, output\n%s", human.code(), human.stdout.String())
	}
	machine := s.start(t, "status", "--election", election, "--json")
	machine.code()
	var got standing
	if err := json.Unmarshal([]byte(machine.stdout.String()), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Held || got.Holder != "host 1" || got.Token != int64(token) || got.Election != election || *got.TTL != 60_000 || *got.Remaining <= 0 ||
		got.Candidate.Address != "http://host1:8080" || len(got.Attempt) != 32 {
		t.Errorf("got %s", machine.stdout.String())
	}
}

func TestStatusOfNobody(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	if p := s.start(t, "status", "--election", election); p.code() != exitUnavailable || !strings.Contains(p.stderr.String(), "nobody has campaigned there") {
		t.Errorf("without a file: exit code %d, %s", p.code(), p.stderr.String())
	}
	if code := s.start(t, command([]string{"--election", "other"}, child("exit", "0")...)...).code(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if p := s.start(t, "status", "--election", election); p.code() != exitNobody || p.stdout.String() != "election    \"night shift\"\nleader      nobody\nlast token  0\n" {
		t.Errorf("exit code %d, output\n%s", p.code(), p.stdout.String())
	}
	if p := s.start(t, "status", "--election", election, "--json"); p.code() != exitNobody || p.stdout.String() != `{"election":"night shift","held":false,"holder":"","token":0}`+"\n" {
		t.Errorf("exit code %d, output\n%s", p.code(), p.stdout.String())
	}
}

// What the store has found out about its server is told, each thing once.
func TestWarningsOfTheStore(t *testing.T) {
	t.Parallel()
	s := setting{store: testenv.Redis(t).URL()} // it keeps nothing on disk
	p, _ := leader(t, s, nil, child("tell", "terminated")...)
	p.logs("endangers leases")
	p.send(syscall.SIGTERM)
	p.code()
	told := map[string]int{}
	for line := range strings.Lines(p.stderr.String()) {
		if _, warning, found := strings.Cut(line, "endangers leases"); found {
			told[warning]++
		}
	}
	for warning, n := range told {
		if n != 1 {
			t.Errorf("told %d times:%s", n, warning)
		}
	}
}

func TestOutputThatCantBeWritten(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	s := sqlite(t)
	s.start(t, command([]string{"--election", "other"}, child("exit", "0")...)...).code() // makes the file
	for _, args := range [][]string{
		{"version"}, {"version", "--json"}, {"advise"}, {"advise", "--json"}, {"status", "--election", "e"}, {"status", "--election", "e", "--json"}, {"watch", "--election", "e"}, {"watch", "--election", "e", "--json"},
	} {
		var stderr output
		if code := execute(append(args, "--store="+s.store), full, &stderr); code != exitOutput || !strings.Contains(stderr.String(), "the output can't be written") {
			t.Errorf("%v: exit code %d, said %q", args, code, stderr.String())
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	human := s.start(t, "watch", "--election", election)
	machine := s.start(t, "watch", "--election", election, "--json")
	human.says("token 0  nobody leads\n")
	machine.says(`"held":false`)
	p, _ := leader(t, s, []string{"--id", "host1"}, child("tell", "terminated")...)
	human.says("  host1 leads (" + filepath.Base(self()) + " on ")
	machine.says(`"held":true,"holder":"host1"`)
	p.send(syscall.SIGTERM)
	eventually(t, "the end of the term", func() bool { return strings.Count(human.stdout.String(), "nobody leads") == 2 })
	eventually(t, "the end of the term", func() bool { return strings.Count(machine.stdout.String(), `"held":false`) == 2 })
	human.send(syscall.SIGINT)
	machine.send(syscall.SIGTERM)
	if human.code() != exitOK || machine.code() != exitOK {
		t.Errorf("exit codes %d and %d", human.code(), machine.code())
	}
	for line := range strings.Lines(machine.stdout.String()) {
		var got standing
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Time.IsZero() || got.Election != election {
			t.Errorf("%v: %s", err, line)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if p := (setting{}).start(t, "version"); p.code() != exitOK || !strings.HasPrefix(p.stdout.String(), "tenure ") {
		t.Errorf("output %q", p.stdout.String())
	}
	var got map[string]string
	p := (setting{}).start(t, "version", "--json")
	p.code()
	if err := json.Unmarshal([]byte(p.stdout.String()), &got); err != nil || got["version"] == "" || got["system"] == "" {
		t.Errorf("%v: %q", err, p.stdout.String())
	}
}

func TestDefaultStoreIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := setting{env: []string{"XDG_STATE_HOME=", "HOME=" + home}}.start(t, command([]string{"--election", election}, child("exit", "3")...)...)
	if p.code() != 3 || !strings.Contains(p.stderr.String(), "no store is given: only processes of this user on this machine take part") {
		t.Errorf("exit code %d, said %q", p.code(), p.stderr.String())
	}
	dir := filepath.Join(home, ".local", "state", "tenure")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "tenure.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file %v, %v", info, err)
	}
}

// An empty variable, as of a cron job that lacks one, must not make each machine elect a leader of its own.
func TestEmptyStoreVariable(t *testing.T) {
	t.Parallel()
	p := setting{env: []string{storeVariable + "="}}.start(t, command([]string{"--election", election}, child("exit", "3")...)...)
	if p.code() != exitUsage || !strings.Contains(p.stderr.String(), "TENURE_STORE is empty") {
		t.Errorf("exit code %d, said %q", p.code(), p.stderr.String())
	}
}

func TestEnvironmentOfTheCommand(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	s.env = []string{"TENURE_TOKEN=4711", "TENURE_ELECTION=other"}
	p := s.start(t, command([]string{"--election", election, "--id", "host1", "--ttl", time.Minute.String()}, child("env")...)...)
	p.code()
	token := fields(p.stderr.String(), "token")[0]
	for _, want := range []string{
		`TENURE_ELECTION=night shift`, fmt.Sprintf(`TENURE_TOKEN=%d`, token), `TENURE_ATTEMPT=[0-9a-f]{32}`, `TENURE_HOLDER=host1`, `TENURE_TTL=60s`,
		`TENURE_STORE=` + regexp.QuoteMeta(s.store),
	} {
		if n := len(regexp.MustCompile(`(?m)^`+want+`$`).FindAllString(p.stdout.String(), -1)); n != 1 {
			t.Errorf("%s is there %d times in\n%s", want, n, p.stdout.String())
		}
	}
}
