package redis

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// watching starts a watch that ends with the test, and takes the wake-ups that are there already.
func watching(t *testing.T, s backend.LeaseStore, election string) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var wake <-chan struct{}
	eventually(t, "a watch begins", func() bool {
		var err error
		wake, err = s.Watch(ctx, election)
		return err == nil
	})
	return wake
}

func woken(t *testing.T, what string, wake <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-wake:
		if !open {
			t.Fatalf("%s: the watch has ended", what)
		}
	case <-time.After(ample):
		t.Fatalf("%s: no wake-up", what)
	}
}

// ended waits for the end of a watch; wake-ups that were under way may come before.
func ended(wake <-chan struct{}) bool {
	end := time.After(ample)
	for {
		select {
		case _, open := <-wake:
			if !open {
				return true
			}
		case <-end:
			return false
		}
	}
}

func subscribers(t *testing.T, server *goredis.Client, channel string) int64 {
	t.Helper()
	return must[map[string]int64](t)(server.PubSubNumSub(deadline(t, ample), channel).Result())[channel]
}

// R40: a thousand watches, a thousand ends: no subscription is left, and one connection served them all. Leaked goroutines would show in TestMain.
func TestCancelledWatchesLeaveNothing(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	channel := inner(t, s).names.channel("e")
	const each = 100
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range each {
				ctx, cancel := context.WithCancel(t.Context())
				wake, err := s.Watch(ctx, "e")
				cancel()
				if err != nil {
					t.Error(err)
					return
				}
				if !ended(wake) {
					t.Error("a watch goes on after its context")
					return
				}
			}
		})
	}
	all.Wait()
	eventually(t, "no subscription is left", func() bool { return subscribers(t, server, channel) == 0 })
	h := inner(t, s).watch
	eventually(t, "the store has forgotten all watches", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.topics) == 0
	})
	wake := watching(t, s, "e") // and it still works
	acquire(t, s, claim("e", "a"))
	woken(t, "grant", wake)
	if n := subscribers(t, server, channel); n != 1 {
		t.Errorf("%d subscriptions", n)
	}
}

// A watch that ends takes nothing from another one of the same election, nor from the next one.
func TestWatchesOfOneElectionShareASubscription(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx, cancel := context.WithCancel(t.Context())
	first := must[<-chan struct{}](t)(s.Watch(ctx, "e"))
	second := watching(t, s, "e")
	if n := subscribers(t, server, inner(t, s).names.channel("e")); n != 1 {
		t.Errorf("%d subscriptions for two watches", n)
	}
	cancel()
	if !ended(first) {
		t.Error("a watch goes on after its context")
	}
	third := watching(t, s, "e")
	acquire(t, s, claim("e", "a"))
	woken(t, "second watch", second)
	woken(t, "third watch", third)
}

// The server ends the pub/sub connection. Each watch is woken once it hears again, since it may have missed something, and hears again.
func TestKilledSubscriptionComesBack(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	a, b := watching(t, s, "a"), watching(t, s, "b")
	for range 3 {
		if n := must[int64](t)(server.ClientKillByFilter(deadline(t, ample), "TYPE", "pubsub").Result()); n == 0 {
			t.Fatal("there was no pub/sub connection")
		}
		woken(t, "after the kill", a)
		woken(t, "after the kill", b)
		l := acquire(t, s, claim("a", "x"))
		woken(t, "grant", a)
		release(t, s, l)
		woken(t, "release", a)
	}
}

// R41: the other end of the pub/sub connection is gone without a word, and nothing ever ends that connection. It is noticed, and a new one takes over.
func TestBlackHoledSubscriptionIsReplaced(t *testing.T) {
	srv := testenv.Redis(t)
	var made, dead atomic.Int64
	front := relay(t, srv.Addr(), func(link int64, reply []byte) []byte {
		made.Store(max(made.Load(), link))
		if link <= dead.Load() {
			return nil
		}
		return reply
	})
	s := client(t, "redis://:"+testenv.Password()+"@"+front+"/0", "timeout=500ms&ping=50ms")
	direct := client(t, srv.URL(), "")
	wake := watching(t, s, "e")
	l := acquire(t, direct, claim("e", "a"))
	woken(t, "grant", wake)
	dead.Store(made.Load())
	release(t, direct, l) // unheard
	woken(t, "after the new connection", wake)
	acquire(t, direct, claim("e", "b"))
	woken(t, "grant", wake)
}

// A connection with watches on which nothing happens is asked now and then, and kept.
func TestQuietSubscriptionIsKept(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), "ping=20ms"), raw(t, srv.URL())
	wake := watching(t, s, "e")
	id := func() string {
		return must[string](t)(server.Do(deadline(t, ample), "client", "list", "type", "pubsub").Text())[:6]
	}
	before := id()
	pings := func() int64 {
		n, _ := server.Do(deadline(t, ample), "info", "commandstats").Text()
		return count(n, "cmdstat_ping:calls=")
	}
	start := pings()
	eventually(t, "five questions were asked", func() bool { return pings() >= start+5 })
	if after := id(); after != before {
		t.Errorf("the connection was replaced: %s, %s", before, after)
	}
	select {
	case <-wake:
		t.Error("a question woke the watch")
	default:
	}
}

// A watch fails where there is no server, soon and with the reason, and works when it is back.
func TestWatchWithoutServer(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "")
	srv.Kill()
	_, err := s.Watch(deadline(t, ample), "e")
	class(t, "watch without a server", err, backend.Unknown)
	if err == nil || !strings.Contains(err.Error(), srv.Addr()) {
		t.Errorf("%v doesn't say why", err)
	}
	srv.Start()
	wake := watching(t, s, "e")
	srv.Kill()
	srv.Start()
	woken(t, "after the restart", wake)
	acquire(t, s, claim("e", "a"))
	woken(t, "grant", wake)
}

// Closing ends watches that are there and watches that are on their way.
func TestCloseEndsWatches(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "timeout=1h")
	wake := watching(t, s, "e")
	srv.Freeze()
	pending := make(chan error, 1)
	go func() { _, err := inner(t, s).Watch(t.Context(), "other"); pending <- err }()
	h := inner(t, s).watch
	eventually(t, "the second watch waits", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.topics) == 2
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !ended(wake) {
		t.Error("a watch goes on after its store was closed")
	}
	class(t, "watch while the store closes", <-pending, backend.Closed)
	_, err := inner(t, s).Watch(t.Context(), "e")
	class(t, "watch after close", err, backend.Closed)
	srv.Thaw()
}

// Closing ends a connection that is being made, though the server never answers its greeting.
func TestCloseEndsDials(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	srv.Freeze()
	defer srv.Thaw()
	s := client(t, srv.URL(), "timeout=1h")
	pending := make(chan error, 2)
	go func() { _, err := s.Get(t.Context(), "e"); pending <- err }()
	go func() { _, err := s.Watch(t.Context(), "e"); pending <- err }()
	d := inner(t, s).own
	eventually(t, "both have a connection", func() bool {
		return d.Open() >= 2
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-pending; err == nil {
			t.Error("a frozen server answered")
		}
	}
}

// A client of the caller's stays open, and works on.
func TestCloseLeavesTheCallersClient(t *testing.T) {
	srv := testenv.Redis(t)
	user := raw(t, srv.URL())
	s := must[*Store](t)(New(user, Options{}))
	wake := must[<-chan struct{}](t)(s.Watch(t.Context(), "e"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !ended(wake) {
		t.Error("a watch goes on after its store was closed")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, err := s.Acquire(t.Context(), claim("e", "a"))
	class(t, "acquire after close", err, backend.Closed)
	if err := user.Ping(deadline(t, ample)).Err(); err != nil {
		t.Errorf("the caller's client: %v", err)
	}
	eventually(t, "the pub/sub connection is gone", func() bool {
		return must[string](t)(user.Do(deadline(t, ample), "client", "list", "type", "pubsub").Text()) == ""
	})
}
