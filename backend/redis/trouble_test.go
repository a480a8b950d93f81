package redis

import (
	"context"
	"errors"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/testenv"
)

// R53, R47: a master without good replicas, or one that was made a replica, refuses heartbeats. The leader steps down at its deadline, and leads again under a greater token
// when it may.
func TestLeaderWhoseServerRefusesWritesStepsDownAndComesBack(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		refuse, accept func(*testing.T, *goredis.Client)
	}{
		"NOREPLICAS": {
			func(t *testing.T, server *goredis.Client) { set(t, server, "min-replicas-to-write", "1") },
			func(t *testing.T, server *goredis.Client) { set(t, server, "min-replicas-to-write", "0") },
		},
		"READONLY": {
			func(t *testing.T, server *goredis.Client) { server.ReplicaOf(deadline(t, ample), "127.0.0.1", "1") },
			func(t *testing.T, server *goredis.Client) { server.ReplicaOf(deadline(t, ample), "no", "one") },
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			srv := testenv.Redis(t, testenv.Options{Own: true})
			server := raw(t, srv.URL())
			l := lead(t, client(t, srv.URL(), ""), "a")
			first := l.next(t)
			c.refuse(t, server)
			if cause := ends(t, first); !errors.Is(cause, elector.ErrDeadline) {
				t.Errorf("the term ended with %v", cause)
			}
			if l.Leading() {
				t.Error("it still leads")
			}
			c.accept(t, server)
			if second := l.next(t); second.Token().Value <= first.Token().Value {
				t.Errorf("token %v after %v", second.Token(), first.Token())
			}
		})
	}
}

// R23: renewals fail for a while that is shorter than the lease: the term goes on under its token, and so do renewals.
func TestShortTroubleCostsNoLeadership(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true})
	server := raw(t, srv.URL())
	s := client(t, srv.URL(), "")
	l := lead(t, s, "a")
	term := l.next(t)
	set(t, server, "min-replicas-to-write", "1")
	before := get(t, s, "e").Renewals
	<-time.After(lifetime / 3) // the time from a renewal to the next
	set(t, server, "min-replicas-to-write", "0")
	eventually(t, "renewals go on", func() bool { return get(t, s, "e").Renewals >= before+3 })
	if term.Context().Err() != nil || get(t, s, "e").Token != term.Token().Value {
		t.Errorf("the term has ended: %v", context.Cause(term.Context()))
	}
}

// R59: a foreign script keeps the server busy for a while that is shorter than the lease.
func TestBusyServerCostsNoLeadership(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"busy-reply-threshold 20"}})
	server := raw(t, srv.URL())
	s := client(t, srv.URL(), "")
	l := lead(t, s, "a")
	term := l.next(t)
	before := get(t, s, "e").Renewals
	blocked := make(chan struct{})
	go func() {
		defer close(blocked)
		server.Eval(context.WithoutCancel(t.Context()), "while true do end", nil)
	}()
	<-time.After(lifetime / 3)
	eventually(t, "the script is killed", func() bool { return raw(t, srv.URL()).ScriptKill(deadline(t, ample)).Err() == nil })
	<-blocked
	eventually(t, "renewals go on", func() bool { return get(t, s, "e").Renewals >= before+3 })
	if term.Context().Err() != nil {
		t.Errorf("the term has ended: %v", context.Cause(term.Context()))
	}
}

// R19, R24: the lease is lost, won again, and then renewed for many TTLs under one token, which is greater than the first.
func TestRenewalsGoOnAfterALossAndANewTerm(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "")
	l := lead(t, s, "a")
	first := l.next(t)
	if err := raw(t, srv.URL()).FlushAll(deadline(t, ample)).Err(); err != nil {
		t.Fatal(err)
	}
	if cause := ends(t, first); !errors.Is(cause, elector.ErrLost) && !errors.Is(cause, elector.ErrDeadline) { // the deadline where the machine is slow
		t.Errorf("the term ended with %v", cause)
	}
	second := l.next(t)
	if second.Token().Value <= first.Token().Value {
		t.Errorf("token %v after %v", second.Token(), first.Token())
	}
	eventually(t, "many renewals", func() bool { return get(t, s, "e").Renewals >= 12 }) // one for each third of a TTL
	if get(t, s, "e").Token != second.Token().Value || second.Context().Err() != nil {
		t.Error("the second term did not last")
	}
}
