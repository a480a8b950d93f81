package conformance

import (
	"errors"
	"testing"

	"github.com/tenure-go/tenure/backend"
)

func TestServerInAURL(t *testing.T) {
	backend.Register(backend.Driver{Schemes: []string{"plain", "plains"}})
	for raw, want := range map[string]string{
		"redis://h:1/0":                           "h:1",
		"redis://user:h:1@h:1/0?prefix=h:1":       "h:1",
		"redis://user:h%3A1@h:1":                  "h:1",
		"postgres://u:p@[::1]:5432/d":             "[::1]:5432",
		"postgres://u:p@h:5432/d?sslmode=disable": "h:5432",
		"postgres://u:p@h:5432/d?sslmode=require": "",
		"redis://h/0":                             "",
		"plains://h:1":                            "",
		"plain://h:1":                             "h:1",
		"redis+cluster://h:1":                     "",
		"etcd://a:1,b:2":                          "",
		"sqlite:///a:1":                           "",
	} {
		u, err := backend.ParseURL(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		at, ok := serverIn(raw, u)
		if ok != (want != "") || ok && (raw[at:at+len(want)] != want || at != lastHost(raw, want)) {
			t.Errorf("%s: server at %d (%v), want %q", raw, at, ok, want)
		}
	}
	if _, err := URL("nonsense"); !errors.Is(err, backend.ErrInvalid) {
		t.Errorf("a URL that can't be read: %v", err)
	}
	if s, err := URL("sqlite:///tmp/x"); err != nil || !s.Serverless || s.Through != nil {
		t.Errorf("a file: %+v, %v", s, err)
	}
}

// lastHost is where the host stands after the credentials.
func lastHost(raw, host string) int {
	from := 0
	for i, c := range raw {
		if c == '@' {
			from = i
		}
	}
	for i := from; i+len(host) <= len(raw); i++ {
		if raw[i:i+len(host)] == host {
			return i
		}
	}
	return -1
}
