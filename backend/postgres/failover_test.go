package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/testenv"
)

// terms is who led when, in this process.
type terms struct {
	mu  sync.Mutex
	all []stay
}

type stay struct {
	name       string
	token      int64
	from, upto time.Time
}

func (r *terms) work(name string) func(context.Context, *elector.Term) error {
	return func(ctx context.Context, term *elector.Term) error {
		r.mu.Lock()
		i := len(r.all)
		r.all = append(r.all, stay{name: name, token: term.Token().Value, from: time.Now()})
		r.mu.Unlock()
		<-ctx.Done()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all[i].upto = time.Now()
		return ctx.Err()
	}
}

func (r *terms) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// check fails the test when two led at once, or a token didn't grow.
func (r *terms) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 1; i < len(r.all); i++ {
		a, b := r.all[i-1], r.all[i]
		if b.token <= a.token {
			t.Errorf("token %d of %s after %d of %s", b.token, b.name, a.token, a.name)
		}
		if a.upto.IsZero() || a.upto.After(b.from) {
			t.Errorf("%s led from %v on, beside %s up to %v", b.name, b.from, a.name, a.upto)
		}
	}
}

// join starts a candidate at a URL and returns the function that makes it resign.
func (r *terms) join(t *testing.T, name, url string, ttl time.Duration) (leave func()) {
	t.Helper()
	e, err := elector.New(elector.Config{
		Store: client(t, url), Election: "e", Candidate: backend.Candidate{ID: name}, TTL: ttl, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = e.Run(ctx, r.work(name)) }()
	leave = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(func() { leave(); _ = e.Close() })
	return leave
}

// DX18: candidates that know both hosts, over the loss of the primary: it is killed, and its asynchronous replica, which lacks the last term, is promoted. Never do two lead, somebody leads again, and
// tokens grow.
func TestElectionOverFailover(t *testing.T) {
	t.Parallel()
	primary := testenv.Postgres(t, testenv.Options{Own: true})
	replica := testenv.PostgresReplica(t, primary)
	const ttl = 3 * time.Second
	r := &terms{}
	url := primary.ReplicatedURL(replica)
	leave := map[string]func(){}
	for i := range 3 {
		name := fmt.Sprint("candidate ", i)
		leave[name] = r.join(t, name, url, ttl)
	}
	eventually(t, "somebody leads", func() bool { return r.count() == 1 })
	p, q := raw(t, primary.URL()), raw(t, replica.URL())
	caughtUp(t, p, q)
	exec(t, q, "ALTER SYSTEM SET primary_conninfo = ''")
	exec(t, q, "SELECT pg_reload_conf()")
	eventually(t, "the replica is cut off", func() bool { return scan[int](t, p, "SELECT count(*) FROM pg_stat_replication") == 0 })
	leave[r.all[0].name]() // the replica won't know of this release, nor of the next term
	eventually(t, "another leads", func() bool { return r.count() == 2 })
	primary.Kill()
	replica.Promote()
	n := 2 + 1 // its lease is lost, so that it is told not held or gives up in time
	eventually(t, "somebody leads again", func() bool { return r.count() >= n })
	newest := r.count()
	r.mu.Lock()
	last := r.all[newest-1].name
	r.mu.Unlock()
	leave[last]() // and at once on the new primary
	eventually(t, "the last one leads", func() bool { return r.count() > newest })
	r.check(t)
}

// The same with a replica that lacks nothing, promoted within what the leader survives: it stays the leader. PE42: also when the old primary can still be reached, and takes no writes any more.
func TestLeaderStaysOverFailover(t *testing.T) {
	t.Parallel()
	for name, demote := range map[string]func(*testing.T, *testenv.Server){
		"killed": func(_ *testing.T, primary *testenv.Server) { primary.Kill() },
		"read-only": func(t *testing.T, primary *testenv.Server) {
			p := raw(t, primary.URL())
			exec(t, p, "ALTER SYSTEM SET default_transaction_read_only = on")
			exec(t, p, "SELECT pg_reload_conf()")
			eventually(t, "the old primary takes no writes", func() bool { return scan[string](t, p, "SHOW transaction_read_only") == "on" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			primary := testenv.Postgres(t, testenv.Options{Own: true})
			replica := testenv.PostgresReplica(t, primary)
			r := &terms{}
			url := primary.ReplicatedURL(replica)
			r.join(t, "a", url, time.Minute)
			eventually(t, "a leads", func() bool { return r.count() == 1 })
			r.join(t, "b", url, time.Minute)
			q := raw(t, replica.URL())
			caughtUp(t, raw(t, primary.URL()), q)
			before := scan[int64](t, q, "SELECT renewals FROM tenure_lease")
			demote(t, primary)
			replica.Promote()
			eventually(t, "the leader renews at the new primary", func() bool { return scan[int64](t, q, "SELECT renewals FROM tenure_lease") > before })
			if n := r.count(); n != 1 {
				t.Errorf("%d terms, want the one before the fail-over", n)
			}
			r.check(t)
		})
	}
}
