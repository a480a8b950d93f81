package main

import (
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// throughProxy is a server's URL by way of a proxy.
func throughProxy(t testing.TB, srv *testenv.Server) (string, *proxy.Proxy) {
	t.Helper()
	p, err := proxy.Listen(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	u, err := url.Parse(srv.URL())
	if err != nil {
		t.Fatal("the URL of the test server is malformed")
	}
	u.Host = p.Addr()
	return u.String(), p
}

// A claim whose reply is still on its way is taken back, and no command is started.
func TestTermWhileTheClaimIsUnderWay(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t)
	slow, p := throughProxy(t, srv)
	p.Delay(150 * time.Millisecond)
	direct, err := backend.Open(t.Context(), srv.URL())
	if err != nil {
		t.Fatal("the URL of the test server is malformed")
	}
	defer direct.Close()
	s := setting{store: slow}
	run := s.start(t, command([]string{"--election", election, "--ttl", "20s"}, child("exit", "0")...)...)
	eventually(t, "a granted claim", func() bool {
		r, err := direct.Get(t.Context(), election)
		return err == nil && r.Held()
	})
	run.send(syscall.SIGTERM)
	if got := run.code(); got != 143 {
		t.Errorf("exit code %d", got)
	}
	if pids := fields(run.stderr.String(), "pid"); len(pids) > 0 {
		t.Error("a command was started")
	}
	if r, err := direct.Get(t.Context(), election); err != nil || r.Held() {
		t.Errorf("it left %v, %v", r, err)
	}
}
