package leaderhttp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/fence"
)

// live is a node that serves on loopback.
type live struct {
	*node
	http *httptest.Server
}

// newLive starts a node whose address is the one that it listens on, unless told otherwise.
func newLive(t *testing.T, server *memory.Server, id, address string, handler http.Handler) *live {
	t.Helper()
	mux := http.NewServeMux()
	l := &live{http: httptest.NewServer(mux)}
	if address == "" {
		address = l.http.URL
	}
	l.node = newNode(t, server, id, address, nil)
	mux.Handle("/", l.Forward(handler))
	mux.Handle("/only", l.LeaderOnly(handler))
	t.Cleanup(func() {
		l.stop()
		l.http.Close()
	})
	return l
}

// told waits until a node knows that another leads.
func (l *live) told(t *testing.T, leader string) {
	t.Helper()
	until(t, l.elector.Config().Candidate.ID+" knows that "+leader+" leads", func() bool { return l.known().Candidate.ID == leader })
}

func named(id string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := fence.FromContext(r.Context())
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s|%s|%s|%d|%s|%s|%s", id, r.Host, r.URL, token.Value, r.Header.Get(Forwarded), r.Header.Get("X-Forwarded-For"), body)
	})
}

// reply is what a server answered.
type reply struct {
	StatusCode int
	Header     http.Header
}

func send(t *testing.T, r *http.Request) (reply, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header}, string(body)
}

func post(t *testing.T, url, body string, header ...string) (reply, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "orders.example"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return send(t, r)
}

// Followers forward to the leader, with body, path, query and Host, and say so; after a hand-over to the next one.
func TestFollowersForward(t *testing.T) {
	server := memory.NewServer()
	a := newLive(t, server, "a", "", named("a"))
	until(t, "a leads", a.itself)
	b, c := newLive(t, server, "b ü", "", named("b")), newLive(t, server, "c", "", named("c"))
	b.told(t, "a")
	c.told(t, "a")
	for l, want := range map[*live]string{
		a: "a|orders.example|/x/y?q=1|1||1.2.3.4|hi",
		b: "a|orders.example|/x/y?q=1|1|b+%C3%BC|1.2.3.4, 127.0.0.1|hi",
		c: "a|orders.example|/x/y?q=1|1|c|1.2.3.4, 127.0.0.1|hi",
	} {
		if r, got := post(t, l.http.URL+"/x/y?q=1", "hi", "X-Forwarded-For", "1.2.3.4"); r.StatusCode != http.StatusOK || got != want {
			t.Errorf("%d %q, want %q", r.StatusCode, got, want)
		}
	}
	if r, got := post(t, b.http.URL+"/only", ""); r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "1" || !strings.Contains(got, `"id":"a"`) ||
		r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("for the leader only: %d %v %s", r.StatusCode, r.Header, got)
	}
	if r, _ := post(t, a.http.URL+"/only", ""); r.StatusCode != http.StatusOK {
		t.Errorf("the leader itself: %d", r.StatusCode)
	}
	a.stop()
	until(t, "another leads", func() bool { return b.itself() || c.itself() })
	second, follower := "b", c
	if c.itself() {
		second, follower = "c", b
	}
	follower.told(t, map[string]string{"b": "b ü", "c": "c"}[second])
	if r, got := post(t, follower.http.URL, ""); r.StatusCode != http.StatusOK || !strings.HasPrefix(got, second+"|") {
		t.Errorf("after a hand-over: %d %q", r.StatusCode, got)
	}
}

// A request is forwarded once: not from one that was wrongly taken for the leader, and not in a circle.
func TestNoRequestIsForwardedTwice(t *testing.T) {
	server := memory.NewServer()
	b := newLive(t, server, "b", "", named("b"))
	until(t, "b leads", b.itself)
	b.stop()
	// a leads, and says that it is reached where b listens; b forwards to itself.
	a := newLive(t, server, "a", b.http.URL, named("a"))
	until(t, "a leads", a.itself)
	served := 0
	again := newNode(t, server, "b2", "", nil)
	defer again.stop()
	until(t, "b knows", func() bool { return again.known().Candidate.ID == "a" })
	b.http.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		again.Forward(named("b2")).ServeHTTP(w, r)
	})
	r, got := post(t, b.http.URL, "")
	if r.StatusCode != http.StatusServiceUnavailable || !strings.Contains(got, "forwarded to a process that does not lead") || served != 2 {
		t.Errorf("%d %s, served %d times", r.StatusCode, got, served)
	}
}

// What can't be forwarded is refused, with the reason: 503 where nothing was done and another try may help, 502 otherwise.
func TestWhatCantBeForwarded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	rude := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer rude.Close()
	for _, tt := range []struct {
		address string
		code    int
		text    string
	}{
		{closed, http.StatusServiceUnavailable, "can't be reached"},
		{rude.URL, http.StatusBadGateway, "may have been carried out"},
		{"not an address", http.StatusBadGateway, "neither an http or https URL nor host:port"},
	} {
		server := memory.NewServer()
		a := newLeader(t, server, tt.address)
		b := newLive(t, server, "b", "", named("b"))
		b.told(t, "a")
		r, got := post(t, b.http.URL, "x")
		if r.StatusCode != tt.code || !strings.Contains(got, tt.text) || (r.Header.Get("Retry-After") == "1") != (tt.code == http.StatusServiceUnavailable) {
			t.Errorf("%q: %d %v %s", tt.address, r.StatusCode, r.Header, got)
		}
		b.stop()
		if r, got := post(t, b.http.URL, "x"); r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "5" || !strings.Contains(got, "nobody is known") {
			t.Errorf("nobody known: %d %s", r.StatusCode, got)
		}
		if err := a.Resign(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// newLeader is a leader without a site, whose address may be nonsense.
func newLeader(t *testing.T, server *memory.Server, address string) *elector.Term {
	t.Helper()
	cfg := elector.Config{Store: server.Client(), Election: "e", Logger: quiet}
	cfg.Candidate.ID, cfg.Candidate.Address = "a", address
	e, err := elector.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	term, err := e.TryCampaign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// A connection that changes its protocol, as a WebSocket does, goes through a follower in both directions.
func TestAnUpgradedConnectionGoesThrough(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
		_ = rw.Flush()
		for {
			line, err := rw.ReadString('\n')
			if err != nil {
				return
			}
			_, _ = rw.WriteString("leader: " + line)
			_ = rw.Flush()
		}
	})
	server := memory.NewServer()
	a := newLive(t, server, "a", "", echo)
	until(t, "a leads", a.itself)
	b := newLive(t, server, "b", "", named("b"))
	b.told(t, "a")
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	in := bufio.NewReader(conn)
	response, err := http.ReadResponse(in, nil) //nolint:bodyclose // an upgraded connection has none
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(response, err)
	}
	for _, line := range []string{"one\n", "two\n"} {
		_, _ = io.WriteString(conn, line)
		if got, err := in.ReadString('\n'); err != nil || got != "leader: "+line {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// Requests are work: their contexts end with the term, and it is released only when they have returned.
func TestRequestsAreWorkUnderTheTerm(t *testing.T) {
	server := memory.NewServer()
	entered, leave := make(chan context.Context, 1), make(chan struct{})
	a := newLive(t, server, "a", "", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		entered <- r.Context()
		<-leave
	}))
	until(t, "a leads", a.itself)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = post(t, a.http.URL+"/only", "")
	}()
	ctx := <-entered
	stopped := make(chan struct{})
	go func() { a.stop(); close(stopped) }()
	<-ctx.Done()
	l, err := a.elector.Leader(t.Context())
	if err != nil || l.Nobody() {
		t.Errorf("released under a request: %+v, %v", l, err)
	}
	if r, _ := post(t, a.http.URL+"/only", ""); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a request while stepping down: %d", r.StatusCode)
	}
	close(leave)
	<-answered
	<-stopped
}
