package elector

import (
	"context"
	"errors"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/redis"
	"github.com/tenure-go/tenure/internal/testenv"
)

func openRedis(t *testing.T, url string) backend.LeaseStore {
	t.Helper()
	s, err := backend.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// lasting is a term that can be waited for.
func (r *running) next(t *testing.T) *Term {
	t.Helper()
	select {
	case term := <-r.terms:
		return term
	case <-time.After(60 * time.Second):
		t.Fatal("no term within a minute")
		return nil
	}
}

// What was recorded on a real Redis, with the server frozen, flushed and restarted empty meanwhile, replays through the core to the same actions: the shell decides nothing.
func TestARunOnRedisReplaysThroughTheCore(t *testing.T) {
	server := testenv.Redis(t, testenv.Options{Own: true})
	cfg := config(openRedis(t, server.URL()), "a")
	cfg.TTL = 2 * time.Second
	var rec recorder
	a := startRecorded(t, cfg, &rec)
	token := a.next(t).Token().Value
	for _, fault := range []func(){
		func() { flush(t, server.URL()) },
		func() { server.Restart() },
		func() { freezeFor(server, cfg.TTL) },
	} {
		fault()
		next := a.next(t).Token().Value
		if next <= token {
			t.Errorf("token %d after %d", next, token)
		}
		token = next
	}
	if err := a.end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	kinds := map[string]int{}
	for _, in := range rec.inputs {
		if in.Err != nil {
			kinds[backend.ClassOf(in.Err).String()]++
		}
	}
	t.Logf("%d steps, errors by class: %v", len(rec.inputs), kinds)
	if kinds["not held"] == 0 || kinds["unknown"] == 0 {
		t.Error("the record holds neither a loss nor an ambiguous reply: the test tests nothing")
	}
	rec.replay(t, a.Config())
}

func startRecorded(t *testing.T, cfg Config, rec *recorder) *running {
	t.Helper()
	return startAs(t, newTestWith(t, cfg, rec), func(ctx context.Context, _ *Term) error { <-ctx.Done(); return ctx.Err() })
}

func newTestWith(t *testing.T, cfg Config, rec *recorder) *Elector {
	t.Helper()
	e := newTest(t, cfg)
	e.loop.record = rec.record
	return e
}

func flush(t *testing.T, url string) {
	t.Helper()
	o, err := goredis.ParseURL(url)
	if err != nil {
		t.Fatal("the test server's URL can't be read")
	}
	c := goredis.NewClient(o)
	defer func() { _ = c.Close() }()
	if err := c.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

// freezeFor stops the server's process for a while that is certain to end a lease.
func freezeFor(server *testenv.Server, ttl time.Duration) {
	server.Freeze()
	pass(2 * ttl)
	server.Thaw()
}

// R19, E3: a record that was flushed is noticed at the next heartbeat; the next token is greater than every earlier one.
func TestAFlushedRedisIsNoticedWithinAHeartbeat(t *testing.T) {
	server := testenv.Redis(t, testenv.Options{Own: true})
	cfg := config(openRedis(t, server.URL()), "a")
	a := start(t, cfg)
	first := a.next(t)
	flush(t, server.URL())
	began := time.Now()
	select {
	case <-first.Context().Done():
	case <-time.After(cfg.TTL):
		t.Fatal("not noticed within a TTL")
	}
	noticed := time.Since(began)
	if cause := context.Cause(first.Context()); !errors.Is(cause, ErrLost) {
		t.Errorf("cause is %v", cause)
	}
	second := a.next(t)
	if second.Token().Value <= first.Token().Value {
		t.Errorf("token %d after %d", second.Token().Value, first.Token().Value)
	}
	t.Logf("noticed after %v, heartbeat %v; led again %v after the flush", noticed, a.Config().RenewInterval, time.Since(began))
	_ = a.end()
}
