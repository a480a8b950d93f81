package redis

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// R59: another's script blocks the server. Calls fail as unknown, and work again after.
func TestBusyServer(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"busy-reply-threshold 10"}})
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	warm(t, s)
	l := acquire(t, s, claim("busy", "a"))
	var blocking sync.WaitGroup
	blocking.Go(func() { server.Eval(ctx, "while true do end", nil) })
	eventually(t, "the server says BUSY", func() bool {
		_, err := s.Renew(ctx, l)
		if err == nil {
			return false
		}
		class(t, "renew while the server is busy", err, backend.Unknown)
		return strings.Contains(err.Error(), "BUSY")
	})
	_, err := s.Acquire(ctx, claim("busy", "b"))
	class(t, "acquire while the server is busy", err, backend.Unknown)
	if err := raw(t, srv.URL()).ScriptKill(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	blocking.Wait()
	renew(t, s, l)
}

// R47, PE42: the master was made a replica. Calls fail as unknown and give their connection up, so that a name that now leads elsewhere is looked up again.
func TestDemotedServer(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	warm(t, s)
	l := acquire(t, s, claim("demoted", "a"))
	if err := server.ReplicaOf(ctx, "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	before := connections(t, server)
	_, err := s.Renew(ctx, l)
	class(t, "renew on a replica", err, backend.Unknown)
	if err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("%v doesn't say READONLY", err)
	}
	_, err = s.Acquire(ctx, claim("other", "a"))
	class(t, "acquire on a replica", err, backend.Unknown)
	class(t, "release on a replica", s.Release(ctx, l, backend.Handover{}), backend.Unknown)
	for id := range connections(t, server) {
		delete(before, id)
	}
	if len(before) == 0 {
		t.Error("every connection that was answered READONLY was kept")
	}
	if err := server.ReplicaOf(ctx, "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	renew(t, s, l)
}

// connections lists the ids of the server's connections, without the asking one.
func connections(t *testing.T, server *goredis.Client) map[string]bool {
	t.Helper()
	ctx := deadline(t, ample)
	ids := map[string]bool{}
	for line := range strings.Lines(must[string](t)(server.ClientList(ctx).Result())) {
		id, _, _ := strings.Cut(line, " ")
		ids[id] = !strings.Contains(line, "cmd=client")
	}
	for id, other := range ids {
		if !other {
			delete(ids, id)
		}
	}
	return ids
}

// R4, PE58: the server is paused for longer than the call lasts. Nothing keeps the lease alive afterwards: it ends a TTL after the call was applied, or was never made.
func TestPausedServerLeavesNoImmortalLease(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	warm(t, s)
	if err := server.Do(deadline(t, ample), "client", "pause", "60000", "write").Err(); err != nil {
		t.Fatal(err)
	}
	c := claim("paused", "a")
	c.TTL = 200 * time.Millisecond
	_, err := s.Acquire(deadline(t, 100*time.Millisecond), c)
	class(t, "acquire on a paused server", err, backend.Unknown)
	if err := server.Do(deadline(t, ample), "client", "unpause").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another leads", func() bool {
		_, err := s.Acquire(deadline(t, ample), claim("paused", "b"))
		if err != nil {
			class(t, "acquire after the pause", err, backend.Held)
		}
		return err == nil
	})
	if r := get(t, s, "paused"); r.Renewals != 0 {
		t.Errorf("something renews: %+v", r)
	}
}

// R56, S10: a frozen server never answers. Each call returns with its context's deadline, even through a client that ignores contexts; and all is well after.
func TestFrozenServer(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	user := raw(t, srv.URL()) // the driver's defaults: ContextTimeoutEnabled is off
	plain := must[*Store](t)(New(user, Options{}))
	stores := map[string]backend.LeaseStore{"by URL": client(t, srv.URL(), ""), "the user's client": backend.Wrap(plain)}
	leases := map[string]backend.Lease{}
	for what, s := range stores {
		warm(t, s)
		leases[what] = acquire(t, s, claim(what, "a"))
	}
	srv.Freeze()
	for what, s := range stores {
		calls := map[string]func(context.Context) error{
			"acquire": func(ctx context.Context) error { _, err := s.Acquire(ctx, claim(what, "b")); return err },
			"renew":   func(ctx context.Context) error { _, err := s.Renew(ctx, leases[what]); return err },
			"release": func(ctx context.Context) error { return s.Release(ctx, leases[what], backend.Handover{}) },
			"get":     func(ctx context.Context) error { _, err := s.Get(ctx, what); return err },
			"watch":   func(ctx context.Context) error { _, err := s.Watch(ctx, what); return err },
		}
		for op, call := range calls {
			began := time.Now()
			err := call(deadline(t, 50*time.Millisecond))
			class(t, op+" "+what, err, backend.Unknown)
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%s %s took %v with a deadline of 50ms", op, what, took)
			}
		}
	}
	srv.Thaw()
	for what, s := range stores {
		eventually(t, "it works again: "+what, func() bool { _, err := s.Get(deadline(t, ample), what); return err == nil })
	}
	if err := plain.Close(); err != nil {
		t.Error(err)
	}
}

// S10: a context that is cancelled in the middle of a call ends the call, though the driver goes on waiting.
func TestCancelledCallReturns(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "timeout=1h")
	warm(t, s)
	srv.Freeze()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { _, err := s.Get(ctx, "e"); done <- err }()
	select {
	case err := <-done:
		t.Fatalf("a frozen server answered: %v", err)
	default:
	}
	cancel(gone)
	select {
	case err := <-done:
		if !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	case <-time.After(ample):
		t.Fatal("the call goes on after its context")
	}
	if err := s.Close(); err != nil { // ends the driver's call too: goleak sees to it
		t.Errorf("close: %v", err)
	}
	srv.Thaw()
}

// A server that is away: calls fail fast and recover at once, without the driver's own waiting.
func TestServerAwayAndBack(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "")
	ctx := deadline(t, ample)
	last := acquire(t, s, claim("away", "a")).Token
	srv.Kill()
	for range 20 { // more than the pool has room for
		_, err := s.Acquire(ctx, claim("away", "a"))
		class(t, "acquire without a server", err, backend.Unknown)
		if err == nil || !strings.Contains(err.Error(), srv.Addr()) {
			t.Fatalf("%v doesn't say where", err)
		}
	}
	srv.Restart()
	if l := acquire(t, s, claim("away", "a")); l.Token <= last { // the first call works
		t.Errorf("token %d after %d", l.Token, last)
	}
}

// Open succeeds while the server is away, and the store works when it comes.
func TestOpenBeforeServer(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	srv.Kill()
	s := client(t, srv.URL(), "")
	_, err := s.Get(deadline(t, ample), "e")
	class(t, "get without a server", err, backend.Unknown)
	_, err = backend.Open(deadline(t, ample), srv.URL()+"?strict=1")
	class(t, "strict open without a server", err, backend.Unknown)
	srv.Start()
	acquire(t, s, claim("e", "a"))
}
