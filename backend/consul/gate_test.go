package consul

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// gate is the way of a test's client to its server: it counts requests, and can hold one back or fail them all.
type gate struct {
	next http.RoundTripper

	mu      sync.Mutex
	count   map[string]int // by path
	bodies  []string       // of transactions
	failing int            // status to answer everything with; zero: none
	pick    func(path, body string) bool
	late    bool
	caught  chan struct{} // closed when a request was picked
	let     chan struct{} // closed to let it go on
}

func newGate(t testing.TB) *gate {
	return &gate{next: transport(t), count: map[string]int{}}
}

// hold picks the next request that fits: it is sent after the returned function was called, or with late answered only then. caught is closed when there is one.
func (g *gate) hold(late bool, pick func(path, body string) bool) (caught <-chan struct{}, goOn func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pick, g.late, g.caught, g.let = pick, late, make(chan struct{}), make(chan struct{})
	return g.caught, sync.OnceFunc(func() { close(g.let) })
}

// writes fits transactions with a verb.
func writes(verb string) func(path, body string) bool {
	return func(_, body string) bool { return strings.Contains(body, `"Verb":"`+verb+`"`) }
}

func (g *gate) fail(status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failing = status
}

// requests returns how many there were since the last call, by path, without the ids of sessions.
func (g *gate) requests() (all int, byPath map[string]int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	byPath = g.count
	g.count = map[string]int{}
	for _, n := range byPath {
		all += n
	}
	return all, byPath
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	g.mu.Lock()
	path := r.URL.Path
	if strings.HasPrefix(path, "/v1/session/renew/") {
		path = "/v1/session/renew"
	}
	g.count[path]++
	if path == "/v1/txn" {
		g.bodies = append(g.bodies, string(body))
	}
	failing, late := g.failing, g.late
	var let chan struct{}
	if g.pick != nil && g.pick(path, string(body)) {
		g.pick = nil
		let = g.let
		close(g.caught)
	}
	g.mu.Unlock()
	if failing != 0 {
		return &http.Response{StatusCode: failing, Body: io.NopCloser(strings.NewReader("No cluster leader")), Request: r, Header: http.Header{}}, nil
	}
	if let != nil && !late {
		<-let
	}
	reply, err := g.next.RoundTrip(r)
	if let != nil && late {
		<-let
	}
	return reply, err
}

// httpVia is an HTTP client that goes through a gate.
func httpVia(g *gate) *http.Client { return &http.Client{Transport: g} }
