package postgres

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testenv"
)

// S7 for functions: each change and each reconnect is told, the end by the store's close once, and after stop nothing.
func TestNotify(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, other, admin := client(t, srv.URL()), client(t, srv.URL()), raw(t, srv.URL())
	var l backend.Lease
	grant := storetest.Change{What: "a grant", Do: func() { l = acquire(t, other, claim("e", "a", time.Minute)) }}
	kit.Notified(t, inner(t, s), "e", grant,
		grant,
		storetest.Change{What: "a release", Do: func() { release(t, other, l) }},
		storetest.Change{What: "forgetting", Do: func() { kit.Forget(t, inner(t, other), "e") }},
		storetest.Change{What: "a reconnect", Do: func() {
			exec(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN tenure_lease' OR query = ''")
		}},
	)
}

// Behind a pooler there are no wake-ups; the end is told.
func TestNotifyWithoutListen(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t)
	s := client(t, srv.URL(), "listen", "0")
	var c storetest.Calls
	kit.Notify(t, inner(t, s), "e", c.Wake)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if wakes, ends := c.Told(); wakes != 0 || ends != 1 {
		t.Errorf("%d wake-ups and %d ends", wakes, ends)
	}
}

// Thousands of watches cost no goroutine each, and little memory.
func TestNotifyIsCheap(t *testing.T) {
	srv := testenv.Postgres(t)
	s := client(t, srv.URL())
	const watches = 5000
	stop, goroutines, each := kit.Watches(t, inner(t, s), watches)
	if goroutines > 20 {
		t.Errorf("%d watches have %d goroutines more", watches, goroutines)
	}
	if each > 2<<10 {
		t.Errorf("a watch takes %d bytes", each)
	}
	stop()
	h := inner(t, s).hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.watchers); n != 1 {
		t.Errorf("%d topics are left", n)
	}
}
