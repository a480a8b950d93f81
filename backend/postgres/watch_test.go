package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// watching opens a watch. A store with a short time-out may need more than one try where the machine is busy.
func watching(t *testing.T, s backend.LeaseStore, election string) (ch <-chan struct{}) {
	t.Helper()
	eventually(t, "a watch", func() bool {
		var err error
		ch, err = s.Watch(t.Context(), election)
		return err == nil
	})
	return ch
}

func woken(t *testing.T, by string, ch <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-ch:
		if !open {
			t.Fatalf("the watch ended before %s", by)
		}
	case <-time.After(ample):
		t.Fatalf("no wake-up by %s", by)
	}
}

// drain takes what is under way.
func drain(ch <-chan struct{}) {
	for {
		select {
		case <-ch:
		case <-time.After(20 * time.Millisecond):
			return
		}
	}
}

// S7: a lost connection for wake-ups is replaced, and every watch is woken then: changes may have gone unheard.
func TestWatchReconnects(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, other, admin := client(t, srv.URL()), client(t, srv.URL()), raw(t, srv.URL())
	ch, second := watching(t, s, "e"), watching(t, s, "f")
	drain(ch)
	drain(second)
	for range 3 {
		if n := scan[int](t, admin, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query = 'LISTEN tenure_lease' OR query = ''"); n == 0 {
			t.Fatal("there is no connection for wake-ups")
		}
		woken(t, "the reconnect", ch)
		woken(t, "the reconnect", second)
		drain(ch)
		l := acquire(t, other, claim("e", "a", time.Minute))
		woken(t, "a grant", ch)
		drain(ch)
		release(t, other, l)
		woken(t, "a release", ch)
		drain(ch)
		drain(second)
	}
	acquire(t, other, claim("f", "a", time.Minute))
	woken(t, "a grant", second)
}

// R41: a connection for wake-ups whose other end is silent is found out and replaced.
func TestWatchFindsDeadConnection(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	p, u := through(t, srv)
	s := client(t, u, "timeout", "500ms")
	inner(t, s).hub.ping = 50 * time.Millisecond
	ch := watching(t, s, "e")
	drain(ch)
	p.DropReplies()
	eventually(t, "the hub knows", func() bool {
		h := inner(t, s).hub
		h.mu.Lock()
		defer h.mu.Unlock()
		return !h.up
	})
	p.Heal()
	woken(t, "the reconnect", ch)
	drain(ch)
	acquire(t, client(t, srv.URL()), claim("e", "a", time.Minute))
	woken(t, "a grant", ch)
}

// R40: a thousand watches that end leave one connection and no watcher.
func TestManyWatchesAreOneConnection(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 1000 {
		if _, err := s.Watch(ctx, string(rune('a'+i%7))); err != nil {
			t.Fatal(err)
		}
	}
	if n := scan[int](t, admin, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tenure' AND query = 'LISTEN tenure_lease'"); n != 1 {
		t.Errorf("%d connections listen, want 1", n)
	}
	cancel()
	eventually(t, "no watcher is left", func() bool {
		h := inner(t, s).hub
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.watchers) == 0
	})
}

// What operators do by hand wakes too: a new election name, a moved one, an emptied table.
func TestWatchHearsOperators(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	release(t, s, acquire(t, s, claim("e", "a", time.Minute)))
	ch := watching(t, s, "e")
	for _, sql := range []string{"UPDATE tenure_lease SET moved_to = 'x'", "DELETE FROM tenure_lease", "TRUNCATE tenure_lease"} {
		drain(ch)
		exec(t, admin, sql)
		woken(t, sql, ch)
	}
}

// listen=0: no connection for wake-ups, and Limits says so.
func TestWithoutListen(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "listen", "0")
	if w := s.Limits().WakeUp; w != backend.Timed {
		t.Errorf("wake-up is %q, want timed", w)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ch := must[<-chan struct{}](t)(s.Watch(ctx, "e"))
	acquire(t, s, claim("e", "a", time.Minute))
	if n := scan[int](t, raw(t, srv.URL()), "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"); n != 0 {
		t.Errorf("%d connections listen", n)
	}
	cancel()
	if _, open := <-ch; open {
		t.Error("woken without a connection for it")
	}
	if w := client(t, srv.URL()).Limits().WakeUp; w != backend.Pushed {
		t.Errorf("wake-up is %q by default, want pushed", w)
	}
}
