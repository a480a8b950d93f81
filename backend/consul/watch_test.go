package consul

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// EC58: the server starts again without its data, so that its index is far below the one that the watch waits for. The watch is woken by that, and by the next change.
func TestAnIndexThatGoesBack(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "")
	for range 50 {
		release(t, s, acquire(t, s, claim("other", "P"))) // lifts the index
	}
	wake := watching(t, s, "e")
	drain(wake)
	srv.Restart()
	woken(t, "the reconnect", wake)
	drain(wake)
	other := client(t, srv.URL(), "")
	l := acquire(t, other, claim("e", "P"))
	woken(t, "a grant after the restart", wake)
	drain(wake)
	release(t, other, l)
	woken(t, "a release after the restart", wake)
}

// EC58: an index that is far ahead of the servers', as after they have lost data behind a connection that lives on: the query starts anew and says that changes may have been missed.
func TestAQueryStartsAnewWhenTheIndexGoesBack(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s := inner(t, client(t, srv.URL(), "prefix=back"))
	q := &query{feed: &feed{hub: s.watch}, folder: s.names.leaders(), wait: 100 * time.Millisecond, index: 1 << 40}
	if _, again, err := q.ask(deadline(t, ample)); err != nil || !again || q.index != 0 {
		t.Errorf("after an index that went back: again %v, index %d, %v", again, q.index, err)
	}
	if _, again, err := q.ask(deadline(t, ample)); err != nil || !again || q.index == 0 || q.index >= 1<<40 {
		t.Errorf("the new start: again %v, index %d, %v", again, q.index, err)
	}
	if _, again, err := q.ask(deadline(t, ample)); err != nil || again {
		t.Errorf("from there on: again %v, %v", again, err)
	}
}

// EC58: nobody has led under the prefix yet, so that every write of anybody's makes the queries return: a watch costs little all the same, and hears of the first grant.
func TestAWatchOfNothingOnABusyServer(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	s, operator := over(t, rawVia(t, srv, g), "nothing"), raw(t, srv)
	wake := watching(t, s, "e")
	g.requests()
	writes := 0
	began := time.Now()
	for time.Since(began) < 4*time.Second {
		if _, err := operator.KV().Put(&api.KVPair{Key: "busy/" + t.Name(), Value: fmt.Append(nil, writes)}, nil); err != nil {
			t.Fatal(err)
		}
		writes++
	}
	n, paths := g.requests()
	t.Logf("%d writes of others in %v, %d requests: %v", writes, time.Since(began), n, paths)
	if n > 40 {
		t.Errorf("%d requests in 4 s: %v", n, paths)
	}
	drain(wake)
	acquire(t, client(t, srv.URL(), "prefix=nothing"), claim("e", "P"))
	woken(t, "the first grant", wake)
}

// drain takes a wake-up that is there.
func drain(wake <-chan struct{}) {
	select {
	case <-wake:
	default:
	}
}

// Renewals wake nobody.
func TestBeatsWakeNobody(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, q := client(t, srv.URL(), "prefix=beats"), client(t, srv.URL(), "prefix=beats")
	l := acquire(t, p, brief("e", "P"))
	wake := watching(t, q, "e")
	drain(wake)
	for range 20 {
		l = renew(t, p, l)
	}
	select {
	case <-wake:
		t.Error("a renewal has woken a watch")
	case <-time.After(time.Second): // longer than the query of the beats rests
	}
	release(t, p, l)
	woken(t, "the release", wake)
}

// E5: what the watch sees of beats counts: a follower that looked once, long before the last beat, may take over a TTL after that beat.
func TestAWatchSeesBeats(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, q := client(t, srv.URL(), "prefix=seen"), client(t, srv.URL(), "prefix=seen")
	const ttl, slow = 6 * time.Second, 5 * time.Second
	for try := range 5 {
		election := fmt.Sprint("e", try)
		c := claim(election, "P")
		c.TTL = ttl
		l := acquire(t, p, c)
		watching(t, q, election)
		<-time.After(time.Second)
		sent := time.Now()
		renew(t, p, l)
		<-time.After(3 * time.Second)
		r := get(t, q, election)
		asked := time.Since(sent)
		if asked > slow {
			continue // it says nothing: the machine was too slow
		}
		if !r.Held() || r.Remaining > ttl-2500*time.Millisecond || r.Remaining < ttl-asked {
			t.Errorf("%v after the last beat, which the watch has seen, %v remain of %v", asked, r.Remaining, ttl)
		}
		return
	}
	t.Errorf("five times a look came more than %v after a renewal: the machine is too slow to tell", slow)
}

// A watch that can't begin says why, and doesn't wait for longer than the store's time-out.
func TestWatchWithoutAServer(t *testing.T) {
	t.Parallel()
	s := client(t, "consul://127.0.0.1:1?timeout=200ms", "")
	_, err := s.Watch(t.Context(), "e")
	class(t, "watch without a server", err, backend.Unknown)
	srv := start(t)
	g := newGate(t)
	g.fail(http.StatusForbidden)
	_, err = over(t, rawVia(t, srv, g), "w").Watch(t.Context(), "e")
	class(t, "watch that is forbidden", err, backend.Denied)
	way, url := through(t, srv)
	way.BlackHole(proxy.Both)
	s = client(t, url, "timeout=300ms")
	_, err = s.Watch(t.Context(), "e")
	class(t, "watch through a black hole", err, backend.Unknown)
	way.Heal()
	watching(t, s, "e")
}

// A watch lives through lost connections, and is woken after each.
func TestWatchOverReconnects(t *testing.T) {
	t.Parallel()
	srv := start(t)
	way, url := through(t, srv)
	s, p := client(t, url, "prefix=re"), client(t, srv.URL(), "prefix=re")
	wake := watching(t, s, "e")
	for i := range 4 {
		way.Down()
		if i%2 == 0 {
			release(t, p, acquire(t, p, claim("e", "P")))
		} else { // it is woken without a change, too, when the query has failed rather than gone on over another connection
			<-time.After(300 * time.Millisecond)
		}
		drain(wake)
		way.Heal()
		woken(t, "the reconnect", wake)
	}
}

// E5: the query of the beats rests for hours while the leases that are watched are long. It goes on when another is watched, and when one is granted.
func TestALongRestEnds(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	p, s := client(t, srv.URL(), "prefix=rest"), over(t, rawVia(t, srv, g), "rest")
	asked := 0
	goesOn := func(after string) {
		t.Helper()
		before := asked
		eventually(t, "the query of the beats goes on after "+after, func() bool {
			_, paths := g.requests()
			asked += paths["/v1/kv/rest/beat/"]
			return asked > before
		})
	}
	long := claim("long", "P")
	long.TTL = 24 * time.Hour
	l := acquire(t, p, long)
	watching(t, s, "long")
	goesOn("the first watch")
	wake := watching(t, s, "short")
	goesOn("the second")
	renew(t, p, l) // it rests again
	drain(wake)
	acquire(t, p, claim("short", "P"))
	woken(t, "the grant", wake)
	goesOn("a grant")
}
