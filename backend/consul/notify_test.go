package consul

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/storetest"
)

// A watch with a function outlives the call's context, hears of each change and of a reconnect, ends silently by stop, and with one last call by the store's Close.
func TestNotify(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, rawURL := through(t, srv)
	s, other := client(t, rawURL, "prefix=notify"), client(t, srv.URL(), "prefix=notify")
	var l backend.Lease
	kit.Notified(t, inner(t, s), "notify",
		storetest.Change{What: "a change after another watch was stopped", Do: func() { release(t, other, acquire(t, other, claim("notify", "a"))) }},
		storetest.Change{What: "a grant", Do: func() { l = acquire(t, other, claim("notify", "a")) }},
		storetest.Change{What: "a release", Do: func() { release(t, other, l) }},
		storetest.Change{What: "a reconnect", Ready: func() {
			p.Down()
			<-time.After(300 * time.Millisecond) // its query fails meanwhile
		}, Do: p.Heal},
	)
}

// Many watches take no goroutine and few bytes each.
func TestManyNotifies(t *testing.T) {
	srv := start(t)
	s := inner(t, client(t, srv.URL(), "prefix=many"))
	stop, goroutines, bytes := kit.Watches(t, s, 5000)
	if goroutines > 100 || bytes > 4096 {
		t.Errorf("5000 watches take %d goroutines and %d bytes each", goroutines, bytes)
	}
	stop()
	if n := len(s.watch.watchers); n != 1 {
		t.Errorf("%d elections are watched after all watches but one were stopped", n)
	}
}
