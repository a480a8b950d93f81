package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/testenv"
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, args, store string
		want              []string // what is wrong, and what to do
	}{
		{"no command", "", "", []string{}},
		{"unknown command", "rum", "", []string{`"rum" is not a command`, "run, status, watch"}},
		{"unknown command with a flag", "rum --election e", "", []string{`no flag "election"`, "the commands are run, status, watch"}},
		{"unknown flag", "run --electoin e -- true", "", []string{`no flag "electoin"`, "--help"}},
		{"flag without value", "status --election", "", []string{"--election needs a value", "--help"}},
		{"no election", "run -- true", "", []string{"--election is missing", "such as"}},
		{"empty election", "run --election= -- true", "", []string{"--election is missing", "such as"}},
		{"empty election for status", "status --election=", "", []string{"--election is missing", "such as"}},
		{"empty election for watch", "watch", "", []string{"--election is missing", "such as"}},
		{"long election", "run --election " + long + " -- true", "", []string{"300 bytes", "at most 256"}},
		{"long id", "run --election e --id " + long + " -- true", "", []string{"--id", "at most 256"}},
		{"no dashes", "run --election e true", "", []string{"put -- before the command"}},
		{"arguments before the dashes", "run --election e true -- x", "", []string{"put -- before the command"}},
		{"nothing to run", "run --election e", "", []string{"no command", "-- CMD ARGS"}},
		{"nothing after the dashes", "run --election e --", "", []string{"no command", "-- CMD ARGS"}},
		{"negative wait", "run --election e --wait=-1s -- true", "", []string{"--wait must not be negative", "0s tries once"}},
		{"negative grace", "run --election e --grace=-1s -- true", "", []string{"--grace must not be negative", "0s"}},
		{"negative TTL", "run --election e --ttl=-1s -- true", "", []string{"--ttl must be more than zero", "such as 5s"}},
		{"no duration", "run --election e --ttl=5 -- true", "", []string{"--ttl", "not a duration", "5s"}},
		{"short TTL", "run --election e --ttl=50ms -- true", "", []string{"50ms is below", "minimum 100ms", "longer"}},
		{"TTL without room", "run --election e --ttl=900ms -- true", "", []string{"900ms leaves no time", "at least 1.6s"}},
		{"endless TTL", "run --election e --ttl=1000000h -- true", "", []string{"above", "maximum", "shorter"}},
		{"no timeout", "status --election e --timeout 0s", "", []string{"--timeout must be more than zero"}},
		{"listed or not", "run --election e --listed=false --priority 1 -- true", "", []string{"leave out --listed=false"}},
		{"malformed attribute", "run --election e --attr zone -- true", "", []string{"--attr: the value must look like zone=north"}},
		{"too many attributes", "run --election e --attr a=" + strings.Repeat("x", 4100) + " -- true", "", []string{"--attr", "at most 4096"}},
		{"no election for candidates", "candidates", "", []string{"name the election", "tenure candidates settlement"}},
		{"two elections", "candidates a b", "", []string{"takes one election"}},
		{"election twice", "stepdown a --election b", "", []string{"given twice"}},
		{"no successor", "handover e", "", []string{"--to is missing", "tenure candidates"}},
		{"endless request", "stepdown e --timeout 13h", "", []string{"at most 12h"}},
		{"negative absence", "stepdown e --away=-1s", "", []string{"--away must be within"}},
		{"no reason", "force-release e --yes", "", []string{"--reason is missing"}},
		{"nothing to forget", "forget", "", []string{"name the elections"}},
		{"negative rest", "forget e --unchanged-for=-1s", "", []string{"must not be negative"}},
		{"empty store", "run --election e --store= -- true", "", []string{"--store is empty", "on this machine alone"}},
		{"unknown scheme", "status --election e", "zookeeper://h", []string{"no store for the scheme zookeeper", "known are", "redis"}},
		{"no scheme", "status --election e", "localhost:6379", []string{"no scheme", "must look like redis://"}},
		{"memory", "run --election e -- true", "memory:x", []string{"lives in one process", "known are", "redis"}},
		{"unknown parameter", "status --election e", "redis://h/0?perfix=x", []string{`no parameter "perfix"`, "known are"}},
		{"parameter twice", "status --election e", "redis://h/0?prefix=x&prefix=y", []string{"given 2 times"}},
		{"malformed parameter", "status --election e", "redis://h/0?timeout=soon", []string{"timeout", "500ms"}},
		{"malformed host", "status --election e", "redis://h:port/0", []string{"malformed", "host:port"}},
		{"malformed path", "status --election e", "redis://h/zero", []string{"number of a database", "redis://host:6379/0"}},
		{"folder", "status --election e", "sqlite:///tmp", []string{"folder", "name a file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := sqlite(t)
			if c.store != "" {
				s.store = c.store
			}
			p := s.start(t, strings.Fields(c.args)...)
			if len(c.want) == 0 {
				if p.code() != 0 || !strings.Contains(p.stdout.String(), "Usage:") {
					t.Errorf("exit code %d, want help", p.code())
				}
				return
			}
			if p.code() != exitUsage || p.stdout.String() != "" {
				t.Errorf("exit code %d, output %q", p.code(), p.stdout.String())
			}
			for _, want := range c.want {
				if !strings.Contains(p.stderr.String(), want) {
					t.Errorf("%q is not in %q", want, p.stderr.String())
				}
			}
		})
	}
}

// A URL with a mistake shows its password in none of the places where it may be given, right or wrong.
func TestPasswordOfAMalformedURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"redis://:SECRET@h:port/0", "redis://u:SECRET@h/zero", "redis://u:SECRET@h/0?nope=1", "redis://u:SECRET@127.0.0.1:1/0", "redis://u:SECRET%zz@h/0",
		"redis:/:SECRET@h:6379/0", "redis::SECRET@h", "redis//:SECRET@h", ":SECRET@h", "SECRET", "SECRET:6379", "SECRET@h:6379", "u:SECRET@h",
		"postgress://u:SECRET@h/db", "redis://u:a/SECRET@h/0", "redis://u:a?SECRET@h/0", "redis://u:a#SECRET@h/0",
		"sqlite://u:SECRET@h/x", "redis://h/0?password=SECRET",
	} {
		canary := strings.ReplaceAll(url, "SECRET", testenv.Password())
		url := strings.ReplaceAll(url, "SECRET", shownSecret)
		for _, given := range []struct {
			args  []string
			store string
		}{
			{[]string{"status", "--election", "e", "--timeout", "2s"}, canary},
			{[]string{"status", "--election", "e", "--store", url, "--timeout", "2s"}, ""},
			{[]string{"status", "--election", "e", "--json", "--verbose", "--store=" + url, "--timeout", "2s"}, ""},
			{[]string{"status", "--election", "e", url}, ""},
			{[]string{"candidates", url}, ""},
			{[]string{"forget", url}, ""},
			{[]string{"handover", "e", "--to", "x", url}, ""},
			{[]string{"stepdown", "e", "--timeout", url}, ""},
			{[]string{url}, ""},
			{[]string{"--" + url}, ""},
			{[]string{"-" + url}, ""},
			{[]string{"run", "--election", "e", "--ttl", url, "--", "true"}, ""},
			{[]string{"run", "--election", "e", "--once" + url, "--", "true"}, ""},
			{[]string{"help", url}, ""},
			{[]string{"completion", "bash", url}, ""},
		} {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				setting{store: given.store}.start(t, given.args...).code() // its end looks for the password
			})
		}
	}
}

func TestPasswordInArgumentsAndOutput(t *testing.T) {
	t.Parallel()
	s := setting{store: testenv.Redis(t).URL()}
	for _, flags := range [][]string{nil, {"--json"}, {"--verbose"}} {
		p, f := leader(t, s, flags, child("tell", "terminated")...)
		for _, pid := range []int{p.cmd.Process.Pid, f.guardian.pid, f.child.pid} {
			line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
			if err != nil {
				t.Fatal(err)
			}
			checkSecret(t, "the arguments of process "+strconv.Itoa(pid), string(line))
		}
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(f.guardian.pid) + "/environ")
		if err != nil {
			t.Fatal(err)
		}
		checkSecret(t, "the guardian's environment", string(environ))
		s.start(t, "status", "--election", election).code()
		p.end()
	}
}
