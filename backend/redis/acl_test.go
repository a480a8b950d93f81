package redis

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// documented are the rules in the package comment for one server.
var documented = []string{
	"on", "resetkeys", "~{billing:0:*}:lease", "resetchannels", "&{billing:0:*}:changes", "-@all",
	"+eval", "+evalsha", "+time", "+hmget", "+hlen", "+hset", "+persist", "+publish", "+subscribe", "+unsubscribe", "+ping", "+info",
}

// as makes a user with the documented rules and more, and opens a store as that user.
func as(t *testing.T, srv *testenv.Server, server *goredis.Client, more ...string) backend.LeaseStore {
	t.Helper()
	rules := append(append([]string{"acl", "setuser", "billing", "reset", ">" + testenv.Password()}, documented...), more...)
	args := make([]any, len(rules))
	for i, r := range rules {
		args[i] = r
	}
	if err := server.Do(deadline(t, ample), args...).Err(); err != nil {
		t.Fatal(err)
	}
	u := must[*url.URL](t)(url.Parse(srv.URL()))
	u.User = url.UserPassword("billing", testenv.Password())
	return client(t, u.String(), "prefix=billing")
}

// The documented permissions are enough for everything.
func TestDocumentedPermissionsSuffice(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s := as(t, srv, raw(t, srv.URL()))
	wake := watching(t, s, "e")
	l := acquire(t, s, claim("e", "a"))
	woken(t, "grant", wake)
	renew(t, s, l)
	raiser, _ := backend.As[backend.TokenRaiser](s)
	if err := raiser.Raise(deadline(t, ample), "e", l.Token+5); err != nil {
		t.Error(err)
	}
	get(t, s, "e")
	release(t, s, l)
	woken(t, "release", wake)
	inner(t, s).check.running.Wait()
	for _, w := range inner(t, s).Warnings() {
		if strings.Contains(w, "INFO") {
			t.Error(w)
		}
	}
}

// R9: a user who may not publish leads as well as others; only wake-ups are missing.
func TestWithoutPublish(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s := as(t, srv, raw(t, srv.URL()), "-publish", "-info", "-time")
	_, err := s.Acquire(deadline(t, ample), claim("e", "a"))
	class(t, "acquire without time", err, backend.Denied) // the clock comes before all writes
	s = as(t, srv, raw(t, srv.URL()), "-publish", "-info")
	l := acquire(t, s, claim("e", "a"))
	renew(t, s, l)
	release(t, s, l)
	acquire(t, s, claim("e", "b"))
	s2 := as(t, srv, raw(t, srv.URL()), "resetchannels")
	l = acquire(t, s2, claim("no channels", "a"))
	release(t, s2, l)
	_, err = s2.Watch(deadline(t, ample), "no channels")
	class(t, "watch without the right to", err, backend.Denied)
	inner(t, s).check.running.Wait()
	if w := strings.Join(inner(t, s).Warnings(), " "); !strings.Contains(w, "+info") {
		t.Errorf("warnings don't say that INFO is denied: %s", w)
	}
}

// Missing and wrong credentials are told apart from a server that is away, and no secret shows.
func TestDenied(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Own: true})
	server := raw(t, srv.URL())
	ctx := deadline(t, ample)
	_ = as(t, srv, server)
	wrong := testenv.Password() + "-wrong"
	for what, params := range map[string]string{
		"no password":              "redis://" + srv.Addr(),
		"wrong password":           "redis://:" + wrong + "@" + srv.Addr(),
		"wrong user":               "redis://nobody:" + wrong + "@" + srv.Addr() + "/0",
		"another prefix's records": "redis://billing:" + testenv.Password() + "@" + srv.Addr() + "?prefix=wages",
	} {
		s := client(t, params, "")
		_, err := s.Acquire(ctx, claim("e", "a"))
		class(t, "acquire with "+what, err, backend.Denied)
		_, err2 := s.Watch(ctx, "e")
		class(t, "watch with "+what, err2, backend.Denied)
		for _, err := range []error{err, err2} {
			if err != nil && strings.Contains(err.Error(), testenv.Password()) {
				t.Errorf("%s: the error shows a password", what)
			}
		}
	}
	// A right that is missing inside of the script, where the server words it in another way.
	s := as(t, srv, server, "-hset")
	_, err := s.Acquire(ctx, claim("e", "a"))
	class(t, "acquire without hset", err, backend.Denied)
	if r := get(t, s, "e"); r.Held() {
		t.Errorf("a denied claim left %v", r)
	}
}

// count reads the number after a mark in INFO's reply.
func count(info, mark string) int64 {
	_, rest, _ := strings.Cut(info, mark)
	digits, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}
