//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testenv"
)

// A store that forgets a live lease would grant it to another before the holder finds out, at its next renewal. Who has seen the holder waits for a TTL instead.
func forgets(r *trial, url string, forget func()) {
	const ttl = 2 * time.Second
	c := startCluster(r, url, ttl, 20*time.Millisecond)
	first := c.shift(1)
	_, f := c.leader(first)
	c.seen(first)
	ended := exitTime(r, f.child.pid)
	forgot := boot()
	forget()
	heartbeat := ttl/3 + ttl/4 // the next renewal, and its time-out
	r.within("loss to the end of the command", ended.wait()-forgot, heartbeat)
	next := c.shift(2)
	r.within("loss to the next leader's first line", next.At-forgot, ttl+ceiling)
	if next.Token <= first.Token {
		r.wrong("token %d after %d", next.Token, first.Token)
	}
	c.running()
	c.check()
}

func TestTrialRestartedEmpty(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true})
	repeat(t, trials(t), func(r *trial) { forgets(r, srv.URL(), srv.Restart) })
}

func TestTrialFlushed(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true})
	admin := redisClient(t, srv.URL())
	repeat(t, trials(t), func(r *trial) {
		forgets(r, srv.URL(), func() {
			if err := admin.FlushAll(r.Context()).Err(); err != nil {
				r.Fatal(err)
			}
		})
	})
}
