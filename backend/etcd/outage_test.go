package etcd

import (
	"context"
	"strings"
	"testing"
	"time"

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
