package redis

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/testenv"
)

// leader is an elector that leads whenever it is elected.
type leader struct {
	*elector.Elector
	terms chan *elector.Term
	stop  context.CancelFunc
	done  chan error
}

// lifetime is the TTL of electors.
const lifetime = 3 * time.Second

// lead starts an elector.
func lead(t *testing.T, s backend.LeaseStore, id string, guards ...fence.Sealer) *leader {
	t.Helper()
	e := must[*elector.Elector](t)(elector.New(elector.Config{
		Store: s, Election: "e", Candidate: backend.Candidate{ID: id}, TTL: lifetime, Guards: guards, Logger: slog.New(slog.DiscardHandler),
	}))
	ctx, cancel := context.WithCancel(t.Context())
	l := &leader{Elector: e, terms: make(chan *elector.Term, 100), stop: cancel, done: make(chan error, 1)}
	go func() {
		l.done <- e.Run(ctx, func(ctx context.Context, term *elector.Term) error {
			l.terms <- term
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	t.Cleanup(func() {
		l.end(t)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// end makes it resign and waits for that. A second call does nothing.
func (l *leader) end(t *testing.T) {
	t.Helper()
	l.stop()
	select {
	case err := <-l.done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("run: %v", err)
		}
		l.done <- err
	case <-time.After(ample):
		t.Error("the elector doesn't end")
	}
}

// next waits for the next term.
func (l *leader) next(t *testing.T) *elector.Term {
	t.Helper()
	select {
	case term := <-l.terms:
		return term
	case <-time.After(ample):
		t.Fatal("no term")
		return nil
	}
}

// ends waits for a term's end and returns its cause.
func ends(t *testing.T, term *elector.Term) error {
	t.Helper()
	select {
	case <-term.Context().Done():
		return context.Cause(term.Context())
	case <-time.After(ample):
		t.Fatal("the term goes on")
		return nil
	}
}

// set changes the server's configuration.
func set(t *testing.T, server *goredis.Client, name, value string) {
	t.Helper()
	if err := server.ConfigSet(deadline(t, ample), name, value).Err(); err != nil {
		t.Fatal(err)
	}
}

// R20: the reply to every claim is lost. Nobody leads by mistake.
func TestNobodyLeadsWhoseClaimsGoUnanswered(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t)
	var muted atomic.Bool
	front := relay(t, srv.Addr(), func(_ int64, reply []byte) []byte {
		if muted.Load() && strings.Contains(string(reply), "granted") {
			return nil
		}
		return reply
	})
	muted.Store(true)
	l := lead(t, client(t, "redis://:"+testenv.Password()+"@"+front+"/0", "timeout=500ms"), "a")
	behind := client(t, srv.URL(), "")
	eventually(t, "a claim was applied", func() bool { return get(t, behind, "e").Counter > 0 })
	<-time.After(time.Second)
	if l.Leading() || len(l.terms) > 0 {
		t.Error("it leads without ever having been answered")
	}
	muted.Store(false)
	if term := l.next(t); term.Token().Value < get(t, behind, "e").Counter {
		t.Errorf("token %v below the counter", term.Token())
	}
}

// R32, R43: a leader that is told to stop, by a context that has ended, releases; a follower leads, on a server without keyspace events, as a user who may not configure it.
func TestStoppedLeaderIsFollowed(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true})
	grant(t, raw(t, srv.URL()), policy(t, "redis.acl", "0"))
	at := billing(t, srv.URL())
	a := lead(t, client(t, at, "prefix=billing"), "a")
	first := a.next(t)
	b := lead(t, client(t, at, "prefix=billing"), "b")
	s := client(t, at, "prefix=billing")
	eventually(t, "the follower watches", func() bool { return subscribers(t, raw(t, srv.URL()), inner(t, s).names.channel("e")) >= 1 })
	began := time.Now()
	a.end(t)
	second := b.next(t)
	t.Logf("the follower leads %v after the leader was told to stop", time.Since(began))
	if second.Token().Value <= first.Token().Value {
		t.Errorf("token %v after %v", second.Token(), first.Token())
	}
	b.end(t)
	if r := get(t, s, "e"); r.Held() {
		t.Errorf("after both have ended there is %v", r)
	}
}

// R39, R44: two followers wait. They ask little; when the leader stops one is elected, and the other waits on for its turn.
func TestFollowersWaitQuietly(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true})
	server := raw(t, srv.URL())
	s := client(t, srv.URL(), "")
	a := lead(t, s, "a")
	a.next(t)
	b, c := lead(t, client(t, srv.URL(), ""), "b"), lead(t, client(t, srv.URL(), ""), "c")
	eventually(t, "both have looked", func() bool { return subscribers(t, server, inner(t, s).names.channel("e")) >= 2 })
	renewals := get(t, s, "e").Renewals
	calls := scripts(t, server)
	ttls := 4
	<-time.After(time.Duration(ttls) * lifetime)
	asked := scripts(t, server) - calls - (get(t, s, "e").Renewals - renewals)
	if most := int64(2 * ttls * 2); asked > most { // E9 says 1.25 for each follower and TTL
		t.Errorf("two followers made %d requests in %d TTLs, want at most %d", asked, ttls, most)
	}
	a.end(t)
	var one, other *leader
	select {
	case <-b.terms:
		one, other = b, c
	case <-c.terms:
		one, other = c, b
	case <-time.After(ample):
		t.Fatal("nobody follows")
	}
	one.end(t)
	other.next(t)
}

// R45: every request takes 50 ms more on its way and back; candidates are elected all the same.
func TestSlowNetwork(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t)
	p, behind := through(t, srv)
	p.Delay(50 * time.Millisecond)
	l := lead(t, client(t, behind, ""), "a")
	term := l.next(t)
	s := client(t, srv.URL(), "")
	eventually(t, "renewals", func() bool { return get(t, s, "e").Renewals >= 3 })
	if term.Context().Err() != nil {
		t.Error(context.Cause(term.Context()))
	}
}

// R25: many campaigns that are given up at any moment: after the last, nothing renews and the election is free.
func TestCampaignsThatAreGivenUpLeaveNothing(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, testenv.Options{Own: true})
	server := raw(t, srv.URL())
	s := client(t, srv.URL(), "")
	e := must[*elector.Elector](t)(elector.New(elector.Config{Store: s, Election: "e", TTL: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)}))
	terms := 0
	for i := range 300 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%30)*100*time.Microsecond)
		if term, err := e.Campaign(ctx); err == nil {
			terms++
			if err := term.Resign(deadline(t, ample)); err != nil {
				t.Error(err)
			}
		}
		cancel()
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d of 300 campaigns led", terms)
	eventually(t, "the election is free", func() bool { return !get(t, s, "e").Held() })
	calls := scripts(t, server)
	<-time.After(2 * time.Second)
	if more := scripts(t, server) - calls; more > 0 {
		t.Errorf("%d scripts were called after the end", more)
	}
}
