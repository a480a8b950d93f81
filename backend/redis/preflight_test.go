package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestFindings(t *testing.T) {
	good := "# Server\r\nredis_version:7.0.15\r\nrole:master\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"
	change := func(from, to string) string { return strings.Replace(good, from, to, 1) }
	for info, want := range map[string]string{
		good:                                     "",
		change("7.0.15", "6.2.0"):                "",
		change("7.0.15", "10.0"):                 "",
		change("7.0.15", "6.0.16"):               "6.2",
		change("7.0.15", "5.0"):                  "6.2",
		change("role:master", "role:slave"):      "replica",
		change("aof_enabled:1", "aof_enabled:0"): "appendonly",
		change("maxmemory:0", "maxmemory:9"):     "",
		change("maxmemory:0\r\nmaxmemory_policy:noeviction", "maxmemory:9\r\nmaxmemory_policy:volatile-lru"): "",
		change("maxmemory:0\r\nmaxmemory_policy:noeviction", "maxmemory:9\r\nmaxmemory_policy:allkeys-lru"):  "allkeys-lru",
		change("noeviction", "allkeys-lru"): "", // without a limit nothing is evicted
		"":                                  "", // a server that says nothing
	} {
		found, refused := judge(parseInfo(info), 0)
		if got := strings.Join(found, " "); refused != nil || (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q (%v), want %q", info, got, refused, want)
		}
	}
}

func TestClockWarning(t *testing.T) {
	now := time.Now()
	for offset, warns := range map[time.Duration]bool{0: false, 900 * time.Millisecond: false, 2 * time.Second: true, -2 * time.Second: true} {
		if got := clockWarning(now.Add(offset), now, now.Add(time.Millisecond)); (len(got) > 0) != warns {
			t.Errorf("clocks %v apart: %q", offset, got)
		}
	}
}

// R55: where several masters accept writes, every one of them would grant the election.
func TestMultiMasterIsRefused(t *testing.T) {
	srv := testenv.Redis(t)
	s := client(t, srv.URL(), "")
	warm(t, s)
	found, refused := judge(parseInfo("role:active-replica\r\naof_enabled:1"), 0)
	if refused == nil || len(found) > 0 {
		t.Fatalf("found %q, refused %v", found, refused)
	}
	check := &inner(t, s).check
	check.mu.Lock()
	check.refused = refused
	check.mu.Unlock()
	_, err := s.Acquire(deadline(t, ample), claim("e", "a"))
	class(t, "acquire on an active replica", err, backend.Invalid)
}

// R51: the first call that succeeds is followed by a look at the server; strict looks first and refuses.
func TestWarningsOfARealServer(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"maxmemory 100mb", "maxmemory-policy allkeys-lru", "appendonly yes", "appendfsync always"}})
	s := client(t, srv.URL(), "")
	warner, ok := backend.As[backend.Warner](s)
	if !ok {
		t.Fatal("the store has no warnings")
	}
	if got := warner.Warnings(); len(got) > 0 {
		t.Errorf("before the first call: %q", got)
	}
	get(t, s, "e")
	eventually(t, "the warning is there", func() bool { return strings.Contains(strings.Join(warner.Warnings(), " "), "allkeys-lru") })
	_, err := backend.Open(deadline(t, ample), srv.URL()+"?strict=1")
	class(t, "strict open", err, backend.Invalid)
	if err == nil || !strings.Contains(err.Error(), "allkeys-lru") {
		t.Errorf("%v doesn't name the policy", err)
	}
	if err := raw(t, srv.URL()).ConfigSet(deadline(t, ample), "maxmemory-policy", "volatile-lru").Err(); err != nil {
		t.Fatal(err)
	}
	acquire(t, client(t, srv.URL(), "strict=1"), claim("e", "a"))
}
