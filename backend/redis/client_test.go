package redis

import (
	"context"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestNewRefusesWhatCantWork(t *testing.T) {
	c := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:1"})
	defer c.Close()
	ring := goredis.NewRing(&goredis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}, HeartbeatFrequency: time.Hour})
	defer ring.Close()
	for what, open := range map[string]func() (*Store, error){
		"no client":       func() (*Store, error) { return New(nil, Options{}) },
		"a ring":          func() (*Store, error) { return New(ring, Options{}) },
		"a long prefix":   func() (*Store, error) { return New(c, Options{Prefix: strings.Repeat("x", 257)}) },
		"a negative time": func() (*Store, error) { return New(c, Options{Timeout: -1}) },
		"an unknown mode": func() (*Store, error) { return New(c, Options{Expiry: backend.Beat}) },
		"a useless step":  func() (*Store, error) { return New(c, Options{Expiry: backend.Observed, ClockStep: 1}) },
		"a strange client that can't wait": func() (*Store, error) {
			return New(struct{ goredis.UniversalClient }{c}, Options{Wait: 1})
		},
	} {
		s, err := open()
		if s != nil {
			t.Errorf("%s gives a store", what)
		}
		class(t, what, err, backend.Invalid)
	}
}

// R57 and its kind: settings of a user's client that endanger leases are told, each with what to change.
func TestClientWarnings(t *testing.T) {
	for _, c := range []struct {
		options goredis.Options
		want    []string
	}{
		{goredis.Options{}, []string{"ContextTimeoutEnabled", "MaxRetries"}},
		{goredis.Options{ContextTimeoutEnabled: true, MaxRetries: -1, PoolSize: 1}, []string{"PoolSize"}},
		{goredis.Options{ContextTimeoutEnabled: true, MaxRetries: -1}, nil},
	} {
		c.options.Addr = "127.0.0.1:1"
		client := goredis.NewClient(&c.options)
		s := must[*Store](t)(New(client, Options{}))
		got := s.Warnings()
		if len(got) != len(c.want) {
			t.Errorf("%d warnings, want %d: %q", len(got), len(c.want), got)
		}
		for i, word := range c.want {
			if i < len(got) && !strings.Contains(got[i], word) {
				t.Errorf("%q doesn't name %s", got[i], word)
			}
		}
		_ = s.Close()
		_ = client.Close()
	}
	for _, rawURL := range []string{"redis://h", "redis+cluster://h"} {
		s := inner(t, client(t, rawURL, ""))
		if got := clientWarnings(s.client); len(got) > 0 {
			t.Errorf("our own client for %s has warnings: %q", rawURL, got)
		}
	}
}

// The store of a user's client works in the client's database, and finds what one opened by URL wrote.
func TestClientAndURLSeeTheSame(t *testing.T) {
	srv := testenv.Redis(t)
	at := strings.TrimSuffix(srv.URL(), "/0") + "/3"
	byURL := client(t, at, "prefix=p")
	byClient := must[*Store](t)(New(raw(t, at), Options{Prefix: "p"}))
	defer byClient.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wake := must[<-chan struct{}](t)(byClient.Watch(ctx, "e"))
	l := acquire(t, byURL, claim("e", "a"))
	woken(t, "grant", wake)
	if r := get(t, byClient, "e"); r.Token != l.Token {
		t.Errorf("the client's store sees %v", r)
	}
}
