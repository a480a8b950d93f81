package consul

import (
	"context"
	"sync"
	"testing"
	"time"
)

// E9: what a follower and a leader cost.
func TestQuiet(t *testing.T) {
	t.Parallel()
	srv := start(t)
	const ttl = 3 * time.Second
	r := newRoll()
	leader, follower := newGate(t), newGate(t)
	s := over(t, rawVia(t, srv, leader), "quiet")
	r.join(t, "a", s, ttl)
	r.term(t, 0)
	r.join(t, "b", over(t, rawVia(t, srv, follower), "quiet"), ttl)
	<-time.After(ttl)
	leader.requests()
	follower.requests()
	began := time.Now()
	<-time.After(6 * ttl)
	ttls := float64(time.Since(began)) / float64(ttl)
	n, paths := leader.requests()
	t.Logf("leader: %.2f requests per TTL: %v", float64(n)/ttls, paths)
	if got := float64(n) / ttls; got > 3+0.5 { // and the session, once in 10 s
		t.Errorf("a leader makes %.2f requests per TTL: %v", got, paths)
	}
	n, paths = follower.requests()
	t.Logf("follower: %.2f requests per TTL: %v", float64(n)/ttls, paths)
	if got := float64(n) / ttls; got > s.Limits().FollowerRequests {
		t.Errorf("a follower makes %.2f requests per TTL: %v", got, paths)
	}
	r.check(t)
}

// E9: what a follower costs where many others lead under the prefix, whose beats make its query return: at most once in a sixth of a TTL.
func TestQuietAmongMany(t *testing.T) {
	t.Parallel()
	srv := start(t)
	const ttl = 3 * time.Second
	r := newRoll()
	s := client(t, srv.URL(), "prefix=among")
	r.join(t, "a", s, ttl)
	r.term(t, 0)
	follower := newGate(t)
	r.join(t, "b", over(t, rawVia(t, srv, follower), "among"), ttl)
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer func() { cancel(); others.Wait() }()
	l := acquire(t, s, claim("other", "O"))
	others.Go(func() { // as 30 leaders with the same TTL
		for ctx.Err() == nil {
			if renewed, err := s.Renew(ctx, l); err == nil {
				l = renewed
			}
			sleep(ctx, ttl/90)
		}
	})
	<-time.After(ttl)
	follower.requests()
	began := time.Now()
	<-time.After(6 * ttl)
	ttls := float64(time.Since(began)) / float64(ttl)
	n, paths := follower.requests()
	t.Logf("follower among many leaders: %.2f requests per TTL: %v", float64(n)/ttls, paths)
	if got, most := float64(n)/ttls, s.Limits().FollowerRequests; got > most || got < most/2 {
		t.Errorf("a follower makes %.2f requests per TTL, want at most %v and no less than half of that: %v", got, most, paths)
	}
	r.check(t)
}
