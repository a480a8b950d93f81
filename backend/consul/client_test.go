package consul

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// EC59: 300 elections with renewals and watches in one process need few connections.
func TestFewConnections(t *testing.T) {
	t.Parallel()
	srv := start(t)
	way, url := through(t, srv)
	s := client(t, url, "prefix=ec59")
	wake := watching(t, s, "e000")
	leases := many(t, s, 300)
	woken(t, "a grant", wake)
	most := 0
	for range 3 {
		each(len(leases), func(i int) {
			if _, err := s.Renew(deadline(t, ample), leases[i]); err != nil {
				t.Error(err)
			}
		})
		for _, r := range backend.RenewAll(deadline(t, ample), s, leases) {
			if r.Err != nil {
				t.Error(r.Err)
			}
		}
		most = max(most, way.Connections())
	}
	t.Logf("300 elections on %d connections", most)
	if most > connections {
		t.Errorf("300 elections on %d connections, want at most %d", most, connections)
	}
}

// hosts is a URL with several hosts.
func hosts(srv *testenv.Server, more ...string) string {
	return strings.Replace(srv.URL(), srv.Addr(), strings.Join(append(more, srv.Addr()), ","), 1)
}

// The hosts of a URL are tried in order where one can't be reached, and the next call goes to the next where one doesn't answer.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s := client(t, hosts(srv, "127.0.0.1:1", "127.0.0.1:2"), "prefix=hosts")
	l := acquire(t, s, claim("e", "P"))
	renew(t, s, l)
	sick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	t.Cleanup(sick.Close)
	s = client(t, hosts(srv, sick.Listener.Addr().String()), "prefix=hosts")
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renewal by a host with an error", err, backend.Unknown)
	l = renew(t, s, l)
	way := must[*proxy.Proxy](t)(proxy.Listen(srv.Addr()))
	t.Cleanup(func() { _ = way.Close() })
	s = client(t, hosts(srv, way.Addr()), "prefix=hosts")
	l = renew(t, s, l)
	way.BlackHole(proxy.Both)
	_, err = s.Renew(deadline(t, 300*time.Millisecond), l)
	class(t, "renewal through a host that doesn't answer", err, backend.Unknown)
	renew(t, s, l)
	before := way.Connections()
	for range 20 {
		get(t, s, "e")
	}
	if n := way.Connections(); n > before {
		t.Errorf("the host that didn't answer is used again: %d connections", n)
	}
}

// Open succeeds while the server is away, and the store works when it is there; strict asks first.
func TestOpenWithoutAServer(t *testing.T) {
	t.Parallel()
	srv := start(t)
	way, url := through(t, srv)
	way.Down()
	s := client(t, url, "prefix=away")
	_, err := s.Acquire(deadline(t, ample), claim("e", "P"))
	class(t, "acquire while the server is away", err, backend.Unknown)
	_, err = backend.Open(deadline(t, ample), url+"&strict=1")
	class(t, "strict while the server is away", err, backend.Unknown)
	way.Heal()
	acquire(t, s, claim("e", "P"))
}

// What the environment says to other tools isn't meant for a store that was opened by URL.
func TestTheEnvironmentIsIgnored(t *testing.T) {
	srv := start(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("CONSUL_HTTP_ADDR", "127.0.0.1:1")
	t.Setenv("CONSUL_HTTP_SSL", "true")
	t.Setenv("CONSUL_NAMESPACE", "elsewhere")
	t.Setenv("CONSUL_PARTITION", "elsewhere")
	t.Setenv("CONSUL_HTTP_TOKEN", testenv.Password()) // the same one
	t.Setenv("CONSUL_HTTP_TOKEN_FILE", "/does/not/exist")
	s := client(t, srv.URL(), "prefix=env")
	release(t, s, acquire(t, s, claim("e", "P")))
	_, err := client(t, "consul://"+srv.Addr()+"?prefix=env", "").Get(deadline(t, ample), "e")
	class(t, "get without a token", err, backend.Denied)
}

// EC54: Close destroys the session when no lease needs it, and leaves it where one does. A client that was given stays usable.
func TestCloseAndTheSession(t *testing.T) {
	t.Parallel()
	srv := start(t)
	operator := raw(t, srv)
	session := func(id string) *api.SessionEntry {
		t.Helper()
		entry, _, err := operator.Session().Info(id, nil)
		if err != nil {
			t.Fatal(err)
		}
		return entry
	}
	for _, holds := range []bool{false, true} {
		s := over(t, operator, "close")
		l := acquire(t, s, claim("e", "P"))
		id, _ := inner(t, s).session.current()
		entry := session(id)
		if entry == nil || entry.Behavior != api.SessionBehaviorRelease || len(entry.NodeChecks)+len(entry.ServiceChecks) != 0 || entry.LockDelay > time.Millisecond {
			t.Fatalf("the session is %+v", entry)
		}
		if !holds {
			release(t, s, l)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if there := session(id) != nil; there != holds {
			t.Errorf("with a lease: %v; the session is there after Close: %v", holds, there)
		}
	}
}

// A session that is gone isn't renewed any more, and the next grant makes another.
func TestASessionThatIsGone(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, operator := client(t, srv.URL(), "prefix=gone"), raw(t, srv)
	acquire(t, s, claim("e1", "P"))
	old, _ := inner(t, s).session.current()
	if _, err := operator.Session().Destroy(old, nil); err != nil {
		t.Fatal(err)
	}
	acquire(t, s, claim("e2", "P")) // with the old id first
	id, _ := inner(t, s).session.current()
	if id == old || id == "" {
		t.Errorf("the session is %q, was %q", id, old)
	}
}

// A call without a deadline ends where the server hangs.
func TestACallWithoutADeadlineEnds(t *testing.T) {
	t.Parallel()
	srv := start(t)
	way, url := through(t, srv)
	s := client(t, url, "prefix=hang&timeout=200ms")
	l := acquire(t, s, claim("e", "P"))
	way.BlackHole(proxy.Both)
	_, err := s.Renew(t.Context(), l)
	class(t, "renewal through a black hole", err, backend.Unknown)
	_, err = s.Acquire(t.Context(), claim("e2", "P"))
	class(t, "acquire through a black hole", err, backend.Unknown)
	way.Heal()
	renew(t, s, l)
}
