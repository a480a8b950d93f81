package consul

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

func parsed(t *testing.T, rawURL string) (settings, Options, error) {
	t.Helper()
	u, err := backend.ParseURL(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return parse(u)
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for rawURL, want := range map[string]struct {
		hosts   string
		token   string
		tls     bool
		prefix  string
		timeout time.Duration
	}{
		"consul://h":                       {"h:8500", "", false, "tenure", defaultTimeout},
		"consul://h/":                      {"h:8500", "", false, "tenure", defaultTimeout},
		"consul://h:1?token=a%2Fb":         {"h:1", "a/b", false, "tenure", defaultTimeout},
		"consuls://a,b:2?prefix=x":         {"a:8501 b:2", "", true, "x", defaultTimeout},
		"consul://[::1],[::2]:3":           {"[::1]:8500 [::2]:3", "", false, "tenure", defaultTimeout},
		"consul://h?timeout=150ms&token=t": {"h:8500", "t", false, "tenure", 150 * time.Millisecond},
	} {
		c, o, err := parsed(t, rawURL)
		if err != nil {
			t.Errorf("%s: %v", rawURL, err)
			continue
		}
		if !slices.Equal(c.hosts, strings.Fields(want.hosts)) || c.token != want.token || (c.tls != nil) != want.tls || c.timeout != want.timeout ||
			o.Prefix != want.prefix || o.Timeout != want.timeout {
			t.Errorf("%s: %+v %+v, want %+v", rawURL, c, o, want)
		}
	}
}

func TestBadURLs(t *testing.T) {
	t.Parallel()
	for rawURL, says := range map[string]string{
		"consul:":                            "names no host",
		"consul://u:secret@h":                "no user and password",
		"consul://h/folder":                  "no path",
		"consul://h?timeout=1ms":             "too short",
		"consul://h?prefix=..":               "choose another",
		"consul://h?prefix=":                 "prefix is empty",
		"consul://h?cacert=/x":               "TLS",
		"consuls://h?cacert=/does/not/exist": "cacert",
		"consul://h?datacenter=x":            "no parameter",
		"consul://h?strict=perhaps":          "strict",
	} {
		_, err := backend.Open(t.Context(), rawURL)
		class(t, rawURL, err, backend.Invalid)
		if err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: the error doesn't say %q, or shows a secret: %v", rawURL, says, err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	_, err := New(nil, Options{Prefix: "..", Timeout: -1})
	class(t, "new", err, backend.Invalid)
	for _, says := range []string{"client is nil", "Timeout", "prefix"} {
		if err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("the error doesn't mention %q: %v", says, err)
		}
	}
}

// A prefix of any characters is a folder of its own.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	n := names{"a/b c%"}
	if got := n.leader("../x"); got != "a%2Fb%20c%25/leader/..%2Fx" {
		t.Error(got)
	}
	if last(n.beat("a/b")) != backend.Escape("a/b") {
		t.Error(last(n.beat("a/b")))
	}
}
