package etcd

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// EC34: the cluster comes back empty, as from an older snapshot. A claim's floor keeps tokens growing, and watches go on.
func TestRestoredCluster(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "")
	var last int64
	for range 5 {
		l := acquire(t, s, claim("restored", "a"))
		release(t, s, l)
		last = l.Token
	}
	wake := watching(t, s, "restored")
	srv.Restart()
	c := claim("restored", "a")
	c.Floor = last
	var l backend.Lease
	eventually(t, "the new cluster grants", func() bool {
		var err error
		l, err = s.Acquire(deadline(t, ample), c)
		return err == nil
	})
	if l.Token <= last {
		t.Errorf("token %d after %d", l.Token, last)
	}
	woken(t, "the grant after the restore", wake)
}

// S10, R56: a frozen server never answers. Each call returns with its context's end, and all is well after.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "")
	warm(t, s)
	l := acquire(t, s, claim("frozen", "a"))
	srv.Freeze()
	calls := map[string]func(context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := s.Acquire(ctx, claim("frozen", "b")); return err },
		"renew":   func(ctx context.Context) error { _, err := s.Renew(ctx, l); return err },
		"release": func(ctx context.Context) error { return s.Release(ctx, l, backend.Handover{}) },
		"get":     func(ctx context.Context) error { _, err := s.Get(ctx, "frozen"); return err },
		"watch":   func(ctx context.Context) error { _, err := s.Watch(ctx, "frozen"); return err },
	}
	for op, call := range calls {
		began := time.Now()
		class(t, op, call(deadline(t, 50*time.Millisecond)), backend.Unknown)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s took %v with a deadline of 50ms", op, took)
		}
	}
	other := client(t, srv.URL(), "timeout=100ms")
	for range 3 {
		_, err := other.Get(t.Context(), "frozen") // no deadline: the store's own
		class(t, "get without a deadline", err, backend.Unknown)
	}
	srv.Thaw()
	eventually(t, "it works again", func() bool { _, err := s.Get(deadline(t, ample), "frozen"); return err == nil })
}

// Open works while the server is away, calls fail and say where, and all is well when it comes.
func TestServerAwayAndBack(t *testing.T) {
	srv := testenv.Etcd(t, testenv.Options{Own: true})
	srv.Kill()
	s := client(t, srv.URL(), "")
	_, err := s.Acquire(deadline(t, time.Second), claim("away", "a"))
	class(t, "acquire without a server", err, backend.Unknown)
	if err == nil || !strings.Contains(err.Error(), srv.Addr()) {
		t.Errorf("%v doesn't say where", err)
	}
	_, err = backend.Open(deadline(t, time.Second), srv.URL()+"?strict=1")
	class(t, "strict open without a server", err, backend.Unknown)
	srv.Start()
	l := acquire(t, s, claim("away", "a"))
	srv.Kill()
	_, err = s.Renew(deadline(t, time.Second), l)
	class(t, "renewal without a server", err, backend.Unknown)
	srv.Start()
	renew(t, s, l)
}

// S10: Close ends the calls that wait for a server which never answers.
func TestCloseEndsCalls(t *testing.T) {
	srv := testenv.Etcd(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "")
	warm(t, s)
	srv.Freeze()
	defer srv.Thaw()
	done := make(chan error, 2)
	go func() { _, err := inner(t, s).Get(deadline(t, time.Hour), "e"); done <- err }()
	go func() { _, err := inner(t, s).Acquire(deadline(t, time.Hour), claim("e", "a")); done <- err }()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	for range 2 {
		select {
		case err := <-done:
			if err == nil {
				t.Error("a frozen server has answered")
			}
		case <-time.After(ample):
			t.Fatal("a call goes on after Close")
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// EC15: a server with longer election time-outs keeps no short TTL. It is refused with the range, rather than raised silently.
func TestLongElectionTimeout(t *testing.T) {
	srv := testenv.Etcd(t, testenv.Options{Settings: []string{"--heartbeat-interval=200", "--election-timeout=2000"}}) // at least 3 s
	s := client(t, srv.URL(), "")
	c := claim("short", "a")
	c.TTL = 2 * time.Second
	_, err := s.Acquire(deadline(t, ample), c)
	class(t, "a claim for less than the server keeps", err, backend.Invalid)
	if err == nil || !strings.Contains(err.Error(), "3s to 8760h") {
		t.Errorf("%v doesn't tell the range", err)
	}
	c.TTL = 3 * time.Second
	release(t, s, acquire(t, s, c))
}

// DX1: an etcd lease that was kept for the next claim is refreshed before it carries one, so that the new term has its whole TTL.
func TestSpareIsRefreshed(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	short := func(election string) backend.Claim { c := claim(election, "a"); c.TTL = 10 * time.Second; return c }
	l := acquire(t, s, short("spare"))
	first := bound(t, operator, "spare")
	release(t, s, l)
	until(t, 4*time.Second)
	sent := time.Now()
	acquire(t, s, short("spare"))
	if bound(t, operator, "spare") != first {
		t.Error("the spare was not used")
	}
	left := must[*clientv3.LeaseTimeToLiveResponse](t)(operator.TimeToLive(deadline(t, ample), bound(t, operator, "spare"))).TTL
	if least := 10*time.Second - time.Since(sent) - 1500*time.Millisecond; seconds(left) < least {
		t.Errorf("the new term has %v left, want %v at least", seconds(left), least)
	}
}
