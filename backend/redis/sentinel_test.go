package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// patient is a time-out for a machine that runs many servers at once.
const patient = "timeout=20s"

func TestConformanceSentinel(t *testing.T) {
	t.Parallel()
	set := testenv.RedisSentinel(t)
	s := suite(set.URL()+"?"+patient, inner(t, client(t, set.URL(), "")).client)
	s.Faults.Failover = func(conformance.T) {
		old := set.Primary()
		failOver(t, set)
		old.Start()
		set.Settle()
	}
	s.Target = "Redis Sentinel"
	conformance.Run(t, s)
}

func TestConformanceSentinelWithWait(t *testing.T) {
	t.Parallel()
	set := testenv.RedisSentinel(t)
	conformance.Run(t, variant(suite(set.URL()+"?wait=1&"+patient, inner(t, client(t, set.URL(), "")).client)))
}

// TLS to sentinels and servers alike, with a password for both.
func TestSentinelWithTLS(t *testing.T) {
	ca := testenv.NewAuthority(t)
	pair := ca.Server()
	set := testenv.RedisSentinel(t, testenv.Options{TLS: &pair, Auth: true})
	s := client(t, set.URL()+"&cacert="+ca.CA(), "")
	wake := watching(t, s, "e")
	renew(t, s, acquire(t, s, claim("e", "a")))
	woken(t, "grant", wake)
	other := testenv.NewAuthority(t)
	untrusting := client(t, set.URL()+"&cacert="+other.CA(), "")
	_, err := untrusting.Acquire(deadline(t, ample), claim("e", "b"))
	class(t, "acquire with another authority", err, backend.Unknown)
}

// cutOff keeps the replicas from following their primary, while sentinels still see all of them. restore lets them follow again.
func cutOff(t *testing.T, set *testenv.Sentinel) (restore func()) {
	t.Helper()
	auth := func(servers []*testenv.Server, password string) {
		for _, r := range servers {
			if err := raw(t, r.URL()).ConfigSet(deadline(t, ample), "masterauth", password).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	replicas := set.Replicas()
	auth(replicas, "wrong")
	primary := raw(t, set.Primary().URL())
	primary.ClientKillByFilter(deadline(t, ample), "TYPE", "replica")
	eventually(t, "no replica follows", func() bool {
		return strings.Contains(must[string](t)(primary.Info(deadline(t, ample), "replication").Result()), "connected_slaves:0")
	})
	return func() { auth(replicas, testenv.Password()) }
}

// failOver kills the primary and returns when another server is it.
func failOver(t *testing.T, set *testenv.Sentinel) {
	t.Helper()
	old := set.Primary()
	old.Kill()
	eventually(t, "the sentinels agree on another primary", func() bool {
		p := set.Primary()
		return p != nil && p != old && strings.Contains(must[string](t)(raw(t, p.URL()).Info(deadline(t, ample), "replication").Result()), "role:master")
	})
}

// Redis Sentinel fail-over with an unreplicated acquire. Two leases are granted, as documented: the first one's holder learns it at its next renewal. Tokens still grow, so that a
// guard which has seen the later one refuses the earlier. R8: the promoted replica knows no script.
func TestSentinelFailOverWithAnUnreplicatedAcquire(t *testing.T) {
	t.Parallel()
	set := testenv.RedisSentinel(t)
	a, b := client(t, set.URL(), ""), client(t, set.URL(), "")
	before := acquire(t, a, claim("other", "a"))
	release(t, a, before)
	restore := cutOff(t, set)
	l := acquire(t, a, claim("e", "a")) // acknowledged, and on one server alone
	_, err := client(t, set.URL(), "wait=1").Acquire(deadline(t, time.Second), claim("careful", "a"))
	class(t, "acquire with wait=1 that no replica hears of", err, backend.Unknown)

	failOver(t, set)
	var next backend.Lease
	eventually(t, "the promoted replica grants", func() bool {
		next, err = b.Acquire(deadline(t, ample), claim("e", "b"))
		if err != nil {
			class(t, "acquire during the fail-over", err, backend.Unknown)
		}
		return err == nil
	})
	t.Logf("two leases at one time: %d until its holder renews, and %d", l.Token, next.Token)
	if next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
	guarded(t, l, next)
	eventually(t, "the first holder learns it", func() bool {
		_, err := a.Renew(deadline(t, ample), l)
		return backend.ClassOf(err) == backend.NotHeld
	})
	restore()
}

// R23, R41: a lease that a replica knows outlives the primary, under its token; watches hear what happens at the next one.
func TestSentinelFailOverKeepsAReplicatedLease(t *testing.T) {
	t.Parallel()
	for what, fail := range map[string]func(*testing.T, *testenv.Sentinel){
		"killed": failOver,
		"frozen": func(t *testing.T, set *testenv.Sentinel) {
			old := set.Primary()
			old.Freeze()
			eventually(t, "the sentinels agree on another primary", func() bool { p := set.Primary(); return p != nil && p != old })
			old.Thaw()
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			set := testenv.RedisSentinel(t)
			a, b := client(t, set.URL(), "wait=1&timeout=500ms"), client(t, set.URL(), "timeout=500ms&ping=200ms")
			l := acquire(t, a, claim("e", "a"))
			wake := watching(t, b, "e")
			fail(t, set)
			eventually(t, "the lease is renewed at the new primary", func() bool {
				_, err := a.Renew(deadline(t, ample), l)
				if err != nil {
					class(t, "renew during the fail-over", err, backend.Unknown)
				}
				return err == nil
			})
			eventually(t, "everybody sees it", func() bool {
				r, err := b.Get(deadline(t, ample), "e")
				return err == nil && r.Token == l.Token && r.Renewals > 0
			})
			woken(t, "the fail-over", wake)
			listening := inner(t, b)
			eventually(t, "the watch is at the new primary", func() bool {
				n, err := listening.client.PubSubNumSub(deadline(t, ample), listening.names.channel("e")).Result()
				return err == nil && n[listening.names.channel("e")] > 0
			})
			drain(wake)
			release(t, a, l)
			woken(t, "release", wake)
		})
	}
}

// drain takes the wake-up that is there.
func drain(wake <-chan struct{}) {
	select {
	case <-wake:
	default:
	}
}
