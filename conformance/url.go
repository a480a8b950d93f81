package conformance

import (
	"slices"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

// URL is the suite of the store at a URL whose driver is registered. Where the URL names one server, with its port and without TLS, the cases with a faulty network are
// played through a proxy of the suite on the loopback interface. An error wraps backend.ErrInvalid; it tells that the URL can't be read.
func URL(raw string) (Suite, error) {
	u, err := backend.ParseURL(raw)
	if err != nil {
		return Suite{}, err
	}
	s := Suite{
		Open:       func(t T) backend.LeaseStore { return openURL(t, raw) },
		Serverless: len(u.Hosts) == 0,
	}
	if at, ok := serverIn(raw, u); ok {
		s.Server = u.Hosts[0]
		s.Through = func(t T, addr string) backend.LeaseStore {
			return openURL(t, raw[:at]+addr+raw[at+len(s.Server):])
		}
	}
	return s, nil
}

func openURL(t T, raw string) backend.LeaseStore {
	s, err := backend.Open(t.Context(), raw)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

// serverIn finds the only server of a URL, as host:port, if a proxy can stand in for it: with TLS its certificate would not be the proxy's, and the members of a cluster
// are found by asking one.
func serverIn(raw string, u *backend.URL) (at int, ok bool) {
	less, trimmed := strings.CutSuffix(u.Scheme, "s")
	tls := trimmed && slices.Contains(backend.Schemes(), less)
	plain := []string{"", "disable", "allow", "prefer"}
	if len(u.Hosts) != 1 || !strings.Contains(u.Hosts[0], ":") || strings.HasSuffix(u.Hosts[0], "]") || strings.Contains(u.Scheme, "+") ||
		tls || !slices.Contains(plain, u.Text("sslmode", "")) {
		return 0, false
	}
	authority := strings.Index(raw, "//") + 2
	end := strings.IndexAny(raw[authority:], "/?")
	if end < 0 {
		end = len(raw) - authority
	}
	return authority + strings.LastIndex(raw[authority:authority+end], u.Hosts[0]), true
}
