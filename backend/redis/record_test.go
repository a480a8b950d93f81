package redis

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// R19: all data is lost in mid-term. The holder learns it at its next renewal, and tokens grow on.
func TestFlushAllEndsTheTermAndTokensGrow(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	last := int64(0)
	for range 3 {
		l := acquire(t, s, claim("flushed", "a"))
		if l.Token <= last {
			t.Fatalf("token %d after %d", l.Token, last)
		}
		last = l.Token
		if err := server.FlushAll(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		_, err := s.Renew(ctx, l)
		class(t, "renew after FLUSHALL", err, backend.NotHeld)
		class(t, "release after FLUSHALL", s.Release(ctx, l, backend.Handover{}), backend.NotHeld)
		if r := get(t, s, "flushed"); r.Held() || r.Version != 0 {
			t.Errorf("after FLUSHALL there is %+v", r)
		}
	}
}

// Data lost and the clock behind the last token: the floor keeps tokens growing.
func TestFloorOutlivesTheRecord(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	c := claim("floor", "a")
	c.Floor = acquire(t, s, claim("clock", "a")).Token + 1<<40 // far ahead of the clock
	l := acquire(t, s, c)
	if err := server.Del(deadline(t, ample), inner(t, s).names.key("floor")).Err(); err != nil {
		t.Fatal(err)
	}
	c = claim("floor", "b")
	c.Floor = l.Token
	if next := acquire(t, s, c); next.Token != l.Token+1 {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
}

// R37: what others have put at our key is neither read as a lease nor overwritten.
func TestForeignRecord(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	key := inner(t, s).names.key("taken")
	plants := map[string]func(){
		"a string":                  func() { server.Set(ctx, key, `{"an":"application's"}`, 0) },
		"a list":                    func() { server.RPush(ctx, key, "x") },
		"a hash without a version":  func() { server.HSet(ctx, key, "holder", "x") },
		"a counter that is no text": func() { server.HSet(ctx, key, "version", "1", "counter", "1e15") },
		"a counter beyond 2^53":     func() { server.HSet(ctx, key, "version", "1", "counter", "9007199254740993") },
	}
	for what, plant := range plants {
		l := acquire(t, s, claim("taken", "a"))
		server.Del(ctx, key)
		plant()
		before := must[string](t)(server.Dump(ctx, key).Result())
		_, err := s.Acquire(ctx, claim("taken", "b"))
		class(t, "acquire over "+what, err, backend.Invalid)
		if err != nil && !strings.Contains(err.Error(), key) {
			t.Errorf("%v doesn't name the key", err)
		}
		_, err = s.Get(ctx, "taken")
		class(t, "get of "+what, err, backend.Invalid)
		if _, err = s.Renew(ctx, l); err == nil {
			t.Errorf("renewed %s", what)
		}
		if err = s.Release(ctx, l, backend.Handover{}); err == nil {
			t.Errorf("released %s", what)
		}
		raiser, _ := backend.As[backend.TokenRaiser](s)
		class(t, "raise of "+what, raiser.Raise(ctx, "taken", l.Token), backend.Invalid)
		if after := must[string](t)(server.Dump(ctx, key).Result()); after != before {
			t.Errorf("%s was changed", what)
		}
		server.Del(ctx, key)
	}
}

// R52: a server that is out of memory and may not evict refuses writes, but not ours: leases live on and are passed on.
func TestOutOfMemoryKeepsLeases(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"maxmemory-policy noeviction"}})
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	l := acquire(t, s, claim("full", "a"))
	if err := server.ConfigSet(ctx, "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if err := server.Set(ctx, "other", "x", 0).Err(); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Fatalf("the server isn't out of memory: %v", err)
	}
	renew(t, s, l)
	release(t, s, l)
	acquire(t, s, claim("full", "b"))
	acquire(t, s, claim("never seen before", "b"))
	raiser, _ := backend.As[backend.TokenRaiser](s)
	if err := raiser.Raise(ctx, "full", l.Token+1<<30); err != nil {
		t.Error(err)
	}
}

// R51: volatile-* policies evict keys with a TTL. Ours never has one, even if somebody gives it one.
func TestRecordHasNoRedisTTL(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	key := inner(t, s).names.key("kept")
	ttl := func(when string) {
		t.Helper()
		if d := must[any](t)(server.Do(ctx, "pttl", key).Result()); d != int64(-1) {
			t.Errorf("after %s the key has a TTL: %v", when, d)
		}
	}
	l := acquire(t, s, claim("kept", "a"))
	ttl("acquire")
	server.Expire(ctx, key, ample)
	renew(t, s, l)
	ttl("renew")
	server.Expire(ctx, key, ample)
	release(t, s, l)
	ttl("release")
}

// The description comes back as it was given, and the record says how long and how often.
func TestRecordIsTold(t *testing.T) {
	srv := testenv.Redis(t)
	s := client(t, srv.URL(), "")
	c := claim("told", "a")
	c.Candidate.Description = backend.Description{App: "billing", Host: "h\n\"1", Port: 80, Version: "v2", Address: "http://h:80"}
	l := acquire(t, s, c)
	renew(t, s, l)
	renew(t, s, l)
	r := get(t, s, "told")
	if r.Holder != c.Candidate || r.Renewals != 2 || r.Age <= 0 || r.Remaining <= 0 || r.Remaining > c.TTL || r.Version != backend.Version {
		t.Errorf("got %+v", r)
	}
}
