package redis

import (
	"strings"
	"testing"

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

// R55: the configuration tells of active replicas too, also before they have met.
func TestConfigFindings(t *testing.T) {
	for _, c := range []struct {
		config  map[string]string
		found   string
		refused bool
	}{
		{nil, "", false}, // the user may not read it, or there is none
		{map[string]string{"appendonly": "yes", "appendfsync": "always"}, "", false},
		{map[string]string{"appendonly": "yes", "appendfsync": "everysec"}, "everysec", false},
		{map[string]string{"appendonly": "no", "appendfsync": "everysec"}, "", false}, // told by INFO
		{map[string]string{"active-replica": "no"}, "", false},
		{map[string]string{"active-replica": "yes"}, "", true},
	} {
		found, refused := judgeConfig(c.config)
		if got := strings.Join(found, " "); (refused != nil) != c.refused || (got == "") != (c.found == "") || !strings.Contains(got, c.found) {
			t.Errorf("%v: %q (%v), want %q", c.config, got, refused, c.found)
		}
		if refused != nil {
			class(t, "refusal", refused, backend.Invalid)
		}
	}
}

// R51: the first call that succeeds is followed by a look at the server; strict looks first and refuses.
func TestWarningsFollowTheFirstCall(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Settings: durable})
	s := client(t, srv.URL(), "")
	warner, ok := backend.As[backend.Warner](s)
	if !ok {
		t.Fatal("the store has no warnings")
	}
	acquire(t, client(t, srv.URL(), "strict=1"), claim("e", "a"))
	for name, value := range map[string]string{"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"} {
		if err := raw(t, srv.URL()).ConfigSet(deadline(t, ample), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if got := warner.Warnings(); len(got) > 0 {
		t.Errorf("before the first call: %q", got)
	}
	get(t, s, "e")
	eventually(t, "the warning is there", func() bool { return strings.Contains(strings.Join(warner.Warnings(), " "), "allkeys-lru") })
}

// durable are settings about which there is nothing to say.
var durable = []string{"appendonly yes", "appendfsync always"}

// Each setting that endangers leases is told of by a server that has it, and strict=1 refuses that server.
func TestWarningsOfRealServers(t *testing.T) {
	master := testenv.Redis(t, testenv.Options{Settings: append([]string{"repl-diskless-sync-delay 0"}, durable...)})
	replica := replicaOf(t, master)
	for _, c := range []struct {
		what     string
		settings []string        // of a server of its own
		srv      *testenv.Server // or this one
		params   string
		want     string // empty: nothing to say
	}{
		{what: "a durable server", settings: durable},
		{what: "nothing on disk", settings: []string{"appendonly no"}, want: "appendonly yes"},
		{what: "disk once a second", settings: []string{"appendonly yes", "appendfsync everysec"}, want: "appendfsync everysec"},
		{what: "all keys evicted by use", settings: append([]string{"maxmemory 100mb", "maxmemory-policy allkeys-lru"}, durable...), want: "allkeys-lru"},
		{what: "all keys evicted by chance", settings: append([]string{"maxmemory 100mb", "maxmemory-policy allkeys-random"}, durable...), want: "allkeys-random"},
		{what: "volatile keys evicted", settings: append([]string{"maxmemory 100mb", "maxmemory-policy volatile-lru"}, durable...)},
		{what: "a replica", srv: replica, want: "is a replica"},
		{what: "a master that may be cut off", srv: master, want: "min-replicas-to-write"},
		{what: "a master that waits", srv: master, params: "&wait=1"},
		{what: "a master with too few replicas", srv: master, params: "&wait=2", want: "waits for 2 replicas"},
		{what: "a server that waits for nobody", settings: durable, params: "&wait=1", want: "has 0"},
	} {
		t.Run(c.what, func(t *testing.T) {
			srv := c.srv
			if srv == nil {
				srv = testenv.Redis(t, testenv.Options{Settings: c.settings})
			}
			s := client(t, srv.URL(), strings.TrimPrefix(c.params, "&"))
			if got := warnings(t, s); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("warnings %q, want %q", got, c.want)
			}
			strict, err := backend.Open(deadline(t, ample), srv.URL()+"?strict=1"+c.params)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				_ = strict.Close()
				return
			}
			class(t, "strict open", err, backend.Invalid)
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v doesn't say %q", err, c.want)
			}
		})
	}
}
