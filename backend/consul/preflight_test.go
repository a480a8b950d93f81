package consul

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// warned waits until the store has looked at its agent, and returns its warnings.
func warned(t *testing.T, s backend.LeaseStore) string {
	t.Helper()
	get(t, s, "e")
	p := &inner(t, s).check
	p.running.Wait()
	if !p.begun.Load() {
		t.Fatal("the store hasn't looked at its agent")
	}
	w, ok := backend.As[backend.Warner](s)
	if !ok {
		t.Fatal("the store has no warnings")
	}
	return strings.Join(w.Warnings(), " ")
}

// A server in development mode and one that refuses the sessions are warned of, and strict refuses them.
func TestWarningsOfARealServer(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Settings: []string{`session_ttl_min = "45s"`}})
	s := client(t, srv.URL(), "")
	got := warned(t, s)
	for _, says := range []string{"development mode", "session_ttl_min is 45s"} {
		if !strings.Contains(got, says) {
			t.Errorf("the warnings don't say %q: %s", says, got)
		}
	}
	_, err := s.Acquire(deadline(t, ample), claim("e", "P"))
	class(t, "acquire where sessions are refused", err, backend.Unknown)
	if err != nil && !strings.Contains(err.Error(), "Session TTL") {
		t.Errorf("the error doesn't say why: %v", err)
	}
	_, err = backend.Open(deadline(t, ample), start(t).URL()+"&strict=1")
	class(t, "strict on a server in development mode", err, backend.Invalid)
}

// Servers that keep their data, with the defaults, are not warned of.
func TestNoWarningsWithoutReason(t *testing.T) {
	t.Parallel()
	c := servers(t, 1)
	if got := warned(t, client(t, c.URL(), "")); got != "" {
		t.Errorf("warnings: %s", got)
	}
	s, err := backend.Open(deadline(t, ample), c.URL()+"&strict=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A token that may not read the agent is told so, and keeps leases all the same.
func TestATokenThatMayNotReadTheAgent(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Own: true})
	s := client(t, under(t, srv, "blind", policy(t)), "")
	if got := warned(t, s); !strings.Contains(got, "agent_prefix") {
		t.Errorf("warnings: %q", got)
	}
	s = client(t, under(t, srv, "seeing", policy(t)+`agent_prefix "" { policy = "read" }`), "")
	if got := warned(t, s); !strings.Contains(got, "development mode") {
		t.Errorf("warnings with the rule that they ask for: %q", got)
	}
}

// aged answers as an agent of an older release.
type aged struct{ next http.RoundTripper }

func (a aged) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := a.next.RoundTrip(r)
	if err == nil && r.URL.Path == "/v1/agent/self" {
		text, _ := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		reply.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(text), `"1.15.4"`, `"1.13.9"`)))
	}
	return reply, err
}

// A release before the oldest that is supported is warned of. A look that failed is repeated after the next call.
func TestAnOldAgent(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s := over(t, rawVia(t, srv, aged{transport(t)}), "aged")
	if got := warned(t, s); !strings.Contains(got, "Consul 1.13.9") {
		t.Errorf("warnings: %q", got)
	}
	for version, old := range map[string]bool{"1.13.9": true, "1.14.0-dev": false, "1.9": true, "2.0.0": false, "0.9.3": true, "": false, "x.y": false} {
		if olderThan(version, 1, 14) != old {
			t.Errorf("%q is older than 1.14: %v, want %v", version, !old, old)
		}
	}
}
