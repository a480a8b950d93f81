package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/testenv"
)

// A10, B5: the advice in the users' own words.
func TestAdvise(t *testing.T) {
	t.Parallel()
	p := (setting{}).start(t, "advise", "--p99", "2m", "--rtt", "5ms", "--zones", "multi")
	if p.code() != exitOK {
		t.Fatalf("exit code %d", p.code())
	}
	lines := strings.Split(strings.TrimSuffix(p.stdout.String(), "\n"), "\n")
	want := [][2]string{
		{"TTL             6m0s", "within 7m30s"}, {"RenewInterval   2m0s", "0.5 requests a minute"}, {"AttemptTimeout  1m30s", "costs no leadership"},
		{"SafetyMargin    18s", "wall clock may step forward by up to 18s"}, {"StepDownMargin  36s", "to stop before another could lead"},
	}
	if len(lines) != len(want) {
		t.Fatalf("got\n%s", p.stdout.String())
	}
	for i, w := range want {
		if !strings.HasPrefix(lines[i], w[0]) || !strings.Contains(lines[i], w[1]) {
			t.Errorf("line %q, want %q", lines[i], w)
		}
	}
}

func TestAdviceForPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		store, args     string
		name            string
		ttl, margin     int64
		failOver        int64
		wall            bool
		leader, perHour float64
	}{
		{"", "", "", 5000, 250, 6275, true, 0.6, 900},
		{"", "--zones multi", "", 15_000, 750, 18_825, true, 0.2, 300},
		{"redis://127.0.0.1:1/0?clockstep=100ms", "--failover 2s", "redis", 1600, 100, 1958, true, 1.875, 2812.5},
		{"redis://127.0.0.1:1/0?expiry=observed", "", "redis", 5000, 250, 11_275, false, 0.6, 900},
		{"etcd://127.0.0.1:1", "", "etcd", 5000, 250, 7275, false, 1.2, 900},
	} {
		p := setting{store: c.store}.start(t, append([]string{"advise", "--json"}, strings.Fields(c.args)...)...)
		var got adviceJSON
		if err := json.Unmarshal([]byte(p.awaited()), &got); err != nil || p.code() != exitOK {
			t.Fatalf("%s %s: %v, exit code %d", c.store, c.args, err, p.code())
		}
		if got.Store != c.name || got.TTL != c.ttl || got.SafetyMargin != c.margin || got.FailOver != c.failOver || (got.SkewTolerated != nil) != c.wall ||
			int(got.LeaderRequests*100+.5) != int(c.leader*100+.5) || int(got.FollowerRequests*3600+.5) != int(c.perHour+.5) {
			t.Errorf("%s %s: %s", c.store, c.args, p.stdout.String())
		}
	}
}

// awaited is what a process that ends has written.
func (p *process) awaited() string {
	p.t.Helper()
	p.code()
	return p.stdout.String()
}

// Advice for a file that isn't there makes none.
func TestAdviceMakesNoFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/nowhere/x.db"
	p := setting{store: "sqlite://" + path}.start(t, "advise")
	if p.code() != exitOK || !strings.Contains(p.stdout.String(), "no step of one does harm") {
		t.Errorf("exit code %d, output %q", p.code(), p.stdout.String())
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file: %v", err)
	}
	if p := sqlite(t).start(t, "advise", "--json"); !strings.Contains(p.awaited(), `"store":"sqlite"`) {
		t.Errorf("output %q", p.stdout.String())
	}
}

// A10: what can't be met together is named in the words of the command line.
func TestNeedsThatCantBeMet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, store, want string }{
		{"--failover 2s --outage 30s", "", "--failover 2s and --outage 30s can't be met together: a fail-over takes up to 43.1s then, more than 2s"},
		{"--failover 10s --p99 2m", "", "--failover 10s and --p99 2m0s can't be met together"},
		{"--failover 1s --zones multi", "", "--failover 1s and --zones multi can't be met together"},
		{"--failover 3s", "etcd://127.0.0.1:1", "--failover 3s and the store's limits can't be met together"},
		{"--p99 9h", "consul://127.0.0.1:1", "longer TTL than the store's longest, 24h0m0s"},
		{"--failover 100ms", "", "--failover 100ms can't be met: a fail-over takes up to"},
		{"--outage 0s", "", "--outage must be more than zero"},
		{"--rtt 1h", "", "--rtt must be more than zero and at most 10s, such as 5ms"},
		{"--p99 soon", "", "not a duration such as 500ms or 5s"},
		{"--zones both", "", "--zones must be single or multi"},
		{"2m", "", "takes flags only"},
		{"", "redis://h/0?perfix=x", `no parameter "perfix"`},
	} {
		p := setting{store: c.store}.start(t, append([]string{"advise"}, strings.Fields(c.args)...)...)
		if p.code() != exitUsage || p.stdout.String() != "" || !strings.Contains(p.stderr.String(), c.want) {
			t.Errorf("%s: exit code %d, said %q, want %q", c.args, p.code(), p.stderr.String(), c.want)
		}
	}
}

// The store's URL is looked at and never shown.
func TestAdviceShowsNoPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://:" + testenv.Password() + "@127.0.0.1:1/0", "postgres://u:" + testenv.Password() + "@127.0.0.1:1/db"} {
		for _, args := range [][]string{{"advise"}, {"advise", "--json"}, {"advise", "--failover", "20ms"}} {
			setting{store: url}.start(t, args...).code() // its end looks for the password
		}
	}
}
