package redis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// missing is how long the test waits for what should not come, or comes at once.
const missing = time.Second

// grantCase is something that a user with the whole policy can do, and one without a certain grant can't.
type grantCase struct {
	name   string
	params string
	check  func(t *testing.T, s backend.LeaseStore, server *goredis.Client) error
}

var (
	firstGrant  = grantCase{"the first grant of an election", "", grantsFirst}
	wakeUp      = grantCase{"a grant wakes watches", "", grantWakes}
	subscribing = grantCase{"a watch begins", "", watchBegins}
	acks        = grantCase{"a grant waits for replicas", "wait=1", grantsFirst}
	quiet       = grantCase{"a quiet watch is not woken", "ping=20ms", staysQuiet}
	unsubscribe = grantCase{"the end of a watch wakes no other", "", endsAlone}
	look        = grantCase{"Warnings knows the server", "", warningsWithout("INFO")}
	enlisting   = grantCase{"a candidate is listed", "", enlists}
	reading     = grantCase{"a list of candidates is read", "", reads}
	delisting   = grantCase{"a candidate is taken off the list", "", delists}
	naming      = grantCase{"the elections are listed", "", lists}
	forgetting  = grantCase{"an election is forgotten", "", forgets}
	fsync       = grantCase{"Warnings knows how the server writes to disk", "", warningsWith("appendfsync everysec")}
)

// needed says for each grant of redis.acl what a user without it can't do. Without publish, ping, unsubscribe, info, config|get, scan, and all that rosters and Forget need, leases are as safe,
// and only comfort is missing.
var needed = map[string]grantCase{
	"~{billing:3:*}:lease": firstGrant, "&{billing:3:*}:changes": wakeUp,
	"+eval": firstGrant, "+evalsha": firstGrant, "+time": firstGrant, "+hmget": firstGrant, "+hlen": firstGrant, "+hset": firstGrant, "+persist": firstGrant,
	"~{billing:3:*}:roster": enlisting, "+hrandfield": enlisting, "+pttl": enlisting, "+pexpire": enlisting, "+hgetall": reading, "+hdel": delisting, "+scan": naming, "+del": forgetting,
	"+publish": wakeUp, "+subscribe": subscribing, "+unsubscribe": unsubscribe, "+ping": quiet, "+select": firstGrant, "+wait": acks, "+info": look, "+config|get": fsync,
}

// Least privilege: with the whole policy each case passes, and without any one of its grants the case that names it fails.
func TestEachGrantIsNeeded(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"appendonly yes", "appendfsync everysec", "repl-diskless-sync-delay 0"}})
	replicaOf(t, srv)
	rules := policy(t, "redis.acl", "3")
	checkGrants(t, rules, needed, func(t *testing.T, rules []string, c grantCase) error {
		at := strings.TrimSuffix(srv.URL(), "/0") + "/3"
		server := raw(t, at)
		grant(t, server, rules)
		if err := server.FlushAll(deadline(t, ample)).Err(); err != nil {
			t.Fatal(err)
		}
		server.ScriptFlush(deadline(t, ample))
		return c.check(t, client(t, billing(t, at), strings.Trim("prefix=billing&"+c.params, "&")), server)
	})
}

// checkGrants plays the case of each grant with all rules and without that grant.
func checkGrants(t *testing.T, rules []string, needed map[string]grantCase, play func(t *testing.T, rules []string, c grantCase) error) {
	t.Helper()
	granted := map[string]bool{}
	for i, rule := range rules {
		if !strings.ContainsAny(rule[:1], "+~&") {
			continue
		}
		granted[rule] = true
		c, known := needed[rule]
		if !known {
			t.Errorf("nothing needs the grant %s", rule)
			continue
		}
		checkGrant(t, rules, i, c, play)
	}
	for rule := range needed {
		if !granted[rule] {
			t.Errorf("the policy lacks %s", rule)
		}
	}
}

// checkGrant plays a case with all rules and without the i-th.
func checkGrant(t *testing.T, rules []string, i int, c grantCase, play func(t *testing.T, rules []string, c grantCase) error) {
	t.Helper()
	rule := rules[i]
	t.Run(rule, func(t *testing.T) {
		if err := play(t, rules, c); err != nil {
			t.Errorf("%s: with all grants: %v", c.name, err)
		}
		if err := play(t, slices.Delete(slices.Clone(rules), i, i+1), c); err == nil {
			t.Errorf("%s: passes without %s", c.name, rule)
		} else {
			t.Logf("without %s red: %s: %v", rule, c.name, err)
		}
	})
}

func grantsFirst(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	_, err := s.Acquire(deadline(t, ample), claim("e", "a"))
	return err
}

func watchBegins(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	ctx, cancel := context.WithCancel(deadline(t, ample))
	defer cancel()
	_, err := s.Watch(ctx, "e")
	return err
}

func enlists(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	return inner(t, s).Enlist(deadline(t, ample), candidate("e", "a", time.Minute))
}

func reads(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	_, err := inner(t, s).Candidates(deadline(t, ample), "e")
	return err
}

func delists(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	return inner(t, s).Delist(deadline(t, ample), "e", "a")
}

func lists(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	_, err := inner(t, s).Elections(deadline(t, ample), "", 1)
	return err
}

func forgets(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	release(t, s, acquire(t, s, claim("e", "a")))
	return inner(t, s).Forget(deadline(t, ample), get(t, s, "e"))
}

// grantWakes listens as a user who may do everything.
func grantWakes(t *testing.T, s backend.LeaseStore, server *goredis.Client) error {
	ctx, cancel := context.WithCancel(deadline(t, ample))
	defer cancel()
	listener := must[*Store](t)(New(server, Options{Prefix: "billing"}))
	defer listener.Close()
	wake := must[<-chan struct{}](t)(listener.Watch(ctx, "e"))
	acquire(t, s, claim("e", "a"))
	select {
	case <-wake:
		return nil
	case <-time.After(missing):
		return errors.New("no wake-up")
	}
}

func staysQuiet(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	ctx, cancel := context.WithCancel(deadline(t, ample))
	defer cancel()
	return notWoken(must[<-chan struct{}](t)(s.Watch(ctx, "e")))
}

func endsAlone(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
	ctx, cancel := context.WithCancel(deadline(t, ample))
	defer cancel()
	stays := must[<-chan struct{}](t)(s.Watch(ctx, "stays"))
	short, end := context.WithCancel(ctx)
	ends := must[<-chan struct{}](t)(s.Watch(short, "ends"))
	end()
	if !ended(ends) {
		t.Error("a watch goes on after its context")
	}
	return notWoken(stays)
}

func notWoken(wake <-chan struct{}) error {
	select {
	case <-wake:
		return errors.New("woken without a change: the connection was replaced")
	case <-time.After(missing):
		return nil
	}
}

func warnings(t *testing.T, s backend.LeaseStore) string {
	get(t, s, "e")
	inner(t, s).check.running.Wait()
	return strings.Join(inner(t, s).Warnings(), " ")
}

func warningsWithout(word string) func(*testing.T, backend.LeaseStore, *goredis.Client) error {
	return func(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
		if text := warnings(t, s); strings.Contains(text, word) {
			return errors.New(text)
		}
		return nil
	}
}

func warningsWith(word string) func(*testing.T, backend.LeaseStore, *goredis.Client) error {
	return func(t *testing.T, s backend.LeaseStore, _ *goredis.Client) error {
		if text := warnings(t, s); !strings.Contains(text, word) {
			return errors.New("no word of it: " + text)
		}
		return nil
	}
}
