package leaderhttp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
)

func want(t *testing.T, what string, h http.Handler, code int, text string) {
	t.Helper()
	w := ask(h)
	if w.Code != code || !strings.Contains(w.Body.String(), text) || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %d %s%v, want %d with %q", what, w.Code, w.Body, w.Header(), code, text)
	}
}

// Leaders and followers alike are alive and ready; /leader tells them apart.
func TestHealthIsIndependentOfLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		a := newNode(t, server, "a", "http://a:1", nil)
		pass(time.Second)
		b := newNode(t, server, "b", "http://b:1", nil)
		pass(time.Hour)
		for _, n := range []*node{a, b} {
			want(t, "alive", n.Alive(), http.StatusOK, `"status":"ok"`)
			want(t, "ready", n.Ready(), http.StatusOK, `"status":"ok"`)
		}
		want(t, "leader", a.Leader(), http.StatusOK, `"leading":true,"leader":{"id":"a","app":"app","host":"h","address":"http://a:1","token":1}`)
		want(t, "follower", b.Leader(), http.StatusServiceUnavailable, `"leading":false,"leader":{"id":"a","app":"app","host":"h","address":"http://a:1","token":1}`)
		a.stop()
		pass(time.Second)
		want(t, "stopped", a.Leader(), http.StatusServiceUnavailable, `"leader":null`)
		want(t, "successor", b.Leader(), http.StatusOK, `"id":"b"`)
		b.stop()
	})
}

// PE44, PE45: with the store out of reach the leader steps down, Ready is red while it lasts, and Alive stays green: a restart mends nothing. Where that is wanted, Alive is red after a while, too.
func TestAStoreOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newNode(t, memory.NewServer(), "a", "", nil)
		strict, err := New(Config{Elector: a.elector, AliveWithin: time.Minute, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		want(t, "leader", a.Leader(), http.StatusOK, `"id":"a"`)
		want(t, "strict", strict.Alive(), http.StatusOK, "ok")
		a.store.gone.Store(true)
		pass(5 * time.Second)
		want(t, "leader", a.Leader(), http.StatusServiceUnavailable, `"leading":false`)
		want(t, "ready within two TTLs", a.Ready(), http.StatusOK, "ok")
		pass(6 * time.Second)
		want(t, "ready after two TTLs", a.Ready(), http.StatusServiceUnavailable, "injected")
		pass(40 * time.Second)
		want(t, "strict within a minute", strict.Alive(), http.StatusOK, "ok")
		pass(20 * time.Second)
		want(t, "strict after a minute", strict.Alive(), http.StatusServiceUnavailable, "injected")
		want(t, "alive", a.Alive(), http.StatusOK, "ok")
		a.store.gone.Store(false)
		want(t, "ready again", a.Ready(), http.StatusOK, "ok")
		want(t, "strict again", strict.Alive(), http.StatusOK, "ok")
		pass(time.Minute)
		want(t, "leader again", a.Leader(), http.StatusOK, `"id":"a"`)
		a.stop()
	})
}

// A page that is asked often does not flood the store.
func TestReadyAsksSparingly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &away{LeaseStore: memory.NewServer().Client()}
		e, err := elector.New(elector.Config{Store: store, Election: "e", Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Config{Elector: e})
		if err != nil {
			t.Fatal(err)
		}
		store.gone.Store(true)
		want(t, "never reached", s.Ready(), http.StatusServiceUnavailable, "not reached yet")
		store.gone.Store(false)
		store.gets.Store(0)
		for range 60 {
			want(t, "ready", s.Ready(), http.StatusOK, "ok")
			pass(time.Second)
		}
		if n := store.gets.Load(); n > 12 {
			t.Errorf("%d requests in a minute, TTL 5 s", n)
		}
	})
}

// Work that goes on after its lease has ended turns Alive red until it returns.
func TestAnOverrunIsNoLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		a := newNode(t, memory.NewServer(), "a", "", func(context.Context, *elector.Term) error { <-hold; return nil })
		pass(time.Second)
		want(t, "leading", a.Alive(), http.StatusOK, "ok")
		a.store.gone.Store(true)
		pass(10 * time.Second)
		want(t, "overrun", a.Alive(), http.StatusServiceUnavailable, "work goes on")
		close(hold)
		pass(time.Millisecond)
		want(t, "returned", a.Alive(), http.StatusOK, "ok")
		a.store.gone.Store(false)
		a.stop()
	})
}

// PE45: an elector whose heart has stopped while it leads turns Alive red, and one that was only frozen is given a moment to catch up.
func TestAHeartThatHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := elector.New(elector.Config{Store: memory.NewServer().Client(), Election: "e", Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		var pulse Pulse
		s, err := New(Config{Elector: e, Pulse: &pulse})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "before", s.Alive(), http.StatusOK, "ok")
		pulse.Event(elector.Event{Kind: elector.Started})
		pass(10 * time.Second)
		want(t, "two TTLs later", s.Alive(), http.StatusOK, "ok")
		pass(time.Millisecond)
		want(t, "more", s.Alive(), http.StatusServiceUnavailable, "stopped telling")
		go func() {
			pass(time.Second / 2)
			pulse.Event(elector.Event{Kind: elector.Lost})
		}()
		want(t, "catching up", s.Alive(), http.StatusOK, "ok")
		pulse.Event(elector.Event{Kind: elector.Stopped})
		pass(time.Hour)
		want(t, "a follower", s.Alive(), http.StatusOK, "ok")
	})
}

func TestConfigIsChecked(t *testing.T) {
	electorAt := func(address string) *elector.Elector {
		e, err := elector.New(elector.Config{
			Store: memory.NewServer().Client(), Election: "e",
			Candidate: backend.Candidate{Description: backend.Description{Address: address}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, address := range []string{"h", "ftp://h", "http://", "http://u:secret@h", "http://h?q", "http://h#f", ":80", "h:", "http://u:secret@h:%zz", "//h", "h:80/x"} {
		_, err := New(Config{Elector: electorAt(address)})
		if !errors.Is(err, backend.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"", "h:80", "[::1]:80", "10.0.0.1:8080", "http://h", "https://h:1/base/"} {
		if _, err := New(Config{Elector: electorAt(address)}); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, c := range []Config{{}, {Elector: electorAt(""), ReadyWithin: -1}, {Elector: electorAt(""), AliveWithin: -1}} {
		if _, err := New(c); !errors.Is(err, backend.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
