package redis

import (
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

const policies = "../../deploy/policies/"

// policy reads a policy as a user fills it in, for the user and the prefix billing, and returns its rules.
func policy(t testing.TB, file, db string) []string {
	t.Helper()
	text := must[[]byte](t)(os.ReadFile(policies + file))
	filled := strings.NewReplacer("TENURE_USER", "billing", "TENURE_PASSWORD", testenv.Password(), "TENURE_PREFIX", "billing", "TENURE_DB", db).Replace(string(text))
	rules := strings.Fields(filled)
	if len(rules) < 3 || rules[0] != "user" || rules[1] != "billing" || strings.Count(filled, "\n") != 1 {
		t.Fatalf("%s is not one line for one user", file)
	}
	return rules[2:]
}

// grant makes the user billing of a server one with these rules and no others.
func grant(t testing.TB, server *goredis.Client, rules []string) {
	t.Helper()
	args := []any{"acl", "setuser", "billing", "reset"}
	for _, r := range rules {
		args = append(args, r)
	}
	if err := server.Do(deadline(t, ample), args...).Err(); err != nil {
		t.Fatal(err)
	}
}

// billing is a server's URL for the user billing.
func billing(t testing.TB, rawURL string) string {
	t.Helper()
	u := must[*url.URL](t)(url.Parse(rawURL))
	u.User = url.UserPassword("billing", testenv.Password())
	return u.String()
}

// as opens a store as the user billing with the policy's rules, and then more.
func as(t *testing.T, srv *testenv.Server, server *goredis.Client, more ...string) backend.LeaseStore {
	t.Helper()
	grant(t, server, append(policy(t, "redis.acl", "0"), more...))
	return client(t, billing(t, srv.URL()), "prefix=billing")
}

// The policy as a server reads it from its file is enough for the whole contract.
func TestConformanceUnderPolicy(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/users.acl"
	text := "user default on >" + testenv.Password() + " ~* &* +@all\nuser billing " + strings.Join(policy(t, "redis.acl", "3"), " ") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"aclfile " + file}})
	at := strings.TrimSuffix(srv.URL(), "/0") + "/3"
	server := raw(t, at)
	s := suite(billing(t, at)+"?prefix=billing", server)
	s.Plant = func(t conformance.T, election, moved string, version int) {
		if err := server.HSet(t.Context(), names{prefix: "billing", db: 3}.key(election), "moved_to", moved, "version", version).Err(); err != nil {
			t.Fatalf("plant: %v", err)
		}
	}
	conformance.Run(t, variant(s))
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
