package redis

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

func parsed(t *testing.T, rawURL string) (settings, Options, bool, error) {
	t.Helper()
	u, err := backend.ParseURL(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return parse(u)
}

func TestURLs(t *testing.T) {
	plain := settings{hosts: []string{"h:6379"}, timeout: defaultTimeout, pool: defaultPool}
	with := func(change func(*settings)) settings { s := plain; change(&s); return s }
	cases := map[string]settings{
		"redis://h":                   plain,
		"redis://h/":                  plain,
		"redis://h:7000/12":           with(func(s *settings) { s.hosts = []string{"h:7000"}; s.db = 12 }),
		"redis://[::1]/0":             with(func(s *settings) { s.hosts = []string{"[::1]:6379"} }),
		"redis://[::1]:7000":          with(func(s *settings) { s.hosts = []string{"[::1]:7000"} }),
		"redis://:p%2Fw@h":            with(func(s *settings) { s.password = "p/w" }),
		"rediss://u:p@h?pool=9":       with(func(s *settings) { s.tls = new(tls.Config); s.user, s.password, s.pool = "u", "p", 9 }),
		"redis://h?timeout=150ms":     with(func(s *settings) { s.timeout = 150 * time.Millisecond }),
		"redis+cluster://a,b:7001":    with(func(s *settings) { s.cluster = true; s.hosts = []string{"a:6379", "b:7001"} }),
		"redis+cluster://a/0?tls=1":   with(func(s *settings) { s.cluster = true; s.hosts = []string{"a:6379"}; s.tls = new(tls.Config) }),
		"redis+sentinel://a,b:1/main": with(func(s *settings) { s.hosts = []string{"a:26379", "b:1"}; s.master = "main" }),
		"redis+sentinel://u:p@a/main?db=3&sentinelauth=1&tls=1": with(func(s *settings) {
			s.hosts, s.master, s.db, s.sentinelAuth, s.tls = []string{"a:26379"}, "main", 3, true, new(tls.Config)
			s.user, s.password = "u", "p"
		}),
	}
	for rawURL, want := range cases {
		got, o, strict, err := parsed(t, rawURL)
		if err != nil {
			t.Errorf("%s: %v", rawURL, err)
			continue
		}
		if !slices.Equal(got.hosts, want.hosts) {
			t.Errorf("%s: hosts %v, want %v", rawURL, got.hosts, want.hosts)
		}
		got.hosts, want.hosts = nil, nil
		if !equal(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", rawURL, got, want)
		}
		if o.DB != want.db || o.Prefix != "tenure" || o.Ping != defaultPing || o.ClockStep != 0 || o.Timeout != want.timeout || strict {
			t.Errorf("%s: options %+v, strict %v", rawURL, o, strict)
		}
	}
}

func equal(a, b settings) bool {
	return a.user == b.user && a.password == b.password && a.sentinelAuth == b.sentinelAuth && a.db == b.db && a.master == b.master &&
		a.cluster == b.cluster && (a.tls == nil) == (b.tls == nil) && a.timeout == b.timeout && a.pool == b.pool
}

func TestURLOptions(t *testing.T) {
	_, o, strict, err := parsed(t, "redis://h/2?prefix=a%2Fb&ping=1m&clockstep=250ms&strict=1&timeout=3s&wait=2")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Options{Prefix: "a/b", DB: 2, Expiry: backend.Native, Wait: 2, Ping: time.Minute, ClockStep: 250 * time.Millisecond, Timeout: 3 * time.Second}); o != want || !strict {
		t.Errorf("got %+v %v, want %+v", o, strict, want)
	}
	if l := client(t, "redis://h", "expiry=observed&wait=1").Limits(); l.Expiry != backend.Observed || l.Durability != backend.Asynchronous || l.ClockStep != 0 {
		t.Errorf("Limits = %+v", l)
	}
	if got := client(t, "redis://h", "clockstep=250ms").Limits().ClockStep; got != 250*time.Millisecond {
		t.Errorf("Limits.ClockStep = %v", got)
	}
}

// Each bad URL is refused before anything is dialled, with a word on what to do, and without the password that stands in it.
func TestBadURLs(t *testing.T) {
	secret := testenv.Password()
	cases := map[string]string{
		"redis:":                             "names no host",
		"redis:///0":                         "names no host",
		"redis://h/x":                        "number of a database",
		"redis://h/-1":                       "number of a database",
		"redis://h/1/2":                      "number of a database",
		"redis://h/01":                       "number of a database",
		"redis://user:12/" + secret + "@h/0": "%XX",
		"redis://a,b/0":                      "redis+sentinel",
		"redis://user@h":                     "without a password",
		"redis://h?prefix=":                  "prefix",
		"redis://h?prefix=" + strings.Repeat("x", 257): "prefix",
		"redis://h?timeout=soon":                       "duration",
		"redis://h?timeout=0s":                         "too short",
		"redis://h?ping=1ns":                           "too short",
		"redis://h?clockstep=-1s":                      "duration",
		"redis://h?pool=0":                             "at least 1",
		"redis://h?strict=maybe":                       "1 or 0",
		"redis://h?wait=-1":                            "at least 0",
		"redis://h?expiry=beat":                        "store nor observed",
		"redis://h?expiry=observed&clockstep=1s":       "ClockStep",
		"redis://h?cacert=ca.pem":                      "doesn't use",
		"redis+cluster://h?cert=c.pem&key=k.pem":       "doesn't use",
		"rediss://h?cert=c.pem":                        "go together",
		"redis://h?db=1":                               "no parameter",
		"redis://h?tls=1":                              "no parameter",
		"redis://h?nonsense=1":                         "known are",
		"redis+sentinel://h":                           "master's name",
		"redis+sentinel://h/a/b":                       "master's name",
		"redis+sentinel://u:1/" + secret + "@h/m":      "master's name",
		"redis+sentinel://h/m?db=x":                    "whole number",
		"redis+sentinel://h/m?sentinelauth=1":          "none",
		"redis+cluster://h/1":                          "database 0",
		"redis+cluster://h?db=1":                       "no parameter",
		"redis://:" + secret + "@h:99999":              "host:port",
	}
	for rawURL, want := range cases {
		s, err := backend.Open(t.Context(), rawURL)
		if err == nil {
			t.Errorf("%s was opened", rawURL)
			_ = s.Close()
			continue
		}
		class(t, rawURL, err, backend.Invalid)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v doesn't say %q", rawURL, err, want)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("an error shows the password: %s", strings.ReplaceAll(err.Error(), secret, "[password]"))
		}
	}
}

// Sentinel and cluster stores can be made, fail as unknown while nobody is there, and close.
func TestSentinelAndClusterOpen(t *testing.T) {
	for _, rawURL := range []string{"redis+sentinel://:pw@127.0.0.1:1,127.0.0.1:2/main?timeout=100ms", "redis+cluster://127.0.0.1:1,127.0.0.1:2?timeout=100ms"} {
		s, err := backend.Open(t.Context(), rawURL)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Acquire(deadline(t, ample), claim("e", "a"))
		class(t, "acquire at "+rawURL, err, backend.Unknown)
		_, err = s.Watch(deadline(t, ample), "e")
		class(t, "watch at "+rawURL, err, backend.Unknown)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
