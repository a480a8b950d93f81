package postgres

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestConformanceThroughPgBouncer(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	pooler := testenv.PgBouncer(t, srv)
	s := suite(t, with(t, pooler.URL(), "listen", "0"), srv.URL()) // spares Open the test whether notifications come through
	s.Target = "PgBouncer"
	conformance.Run(t, s)
}

// A pooler in transaction mode swallows wake-ups: Open finds out, and Limits tells the elector. In session mode they come through.
func TestPoolerIsFoundOut(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	modes := map[string]backend.WakeUp{"transaction": backend.Timed, "session": backend.Pushed}
	for mode, want := range modes {
		pooler := testenv.PgBouncer(t, srv, testenv.Options{Settings: []string{"pool_mode = " + mode}})
		for range 3 {
			s := client(t, pooler.URL())
			for end := time.Now().Add(ample); s.Limits().WakeUp != want && time.Now().Before(end); { // the look ends after a second, which a busy machine may not find time for
				s = client(t, pooler.URL())
			}
			if got := s.Limits().WakeUp; got != want {
				t.Errorf("%s mode: wake-up is %q, want %q", mode, got, want)
			}
			warned := strings.Contains(strings.Join(inner(t, s).Warnings(), " "), "listen=0")
			if warned != (want == backend.Timed) {
				t.Errorf("%s mode: warnings are %q", mode, inner(t, s).Warnings())
			}
			if _, err := s.Watch(deadline(t, ample), "e"); err != nil {
				t.Errorf("%s mode: watch: %v", mode, err)
			}
		}
		quiet := client(t, pooler.URL(), "listen", "0")
		if w := strings.Join(inner(t, quiet).Warnings(), " "); strings.Contains(w, "listen=0") {
			t.Errorf("listen=0 accepts a pooler, but Warnings say %s", w)
		}
	}
}

// The driver's own default, named statements, is not used on a caller's pool either; and migration is safe through a pooler.
func TestUserPoolThroughPgBouncer(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	pooler := testenv.PgBouncer(t, srv)
	pool := must[*pgxpool.Pool](t)(pgxpool.New(t.Context(), pooler.URL()))
	t.Cleanup(pool.Close)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := Migrate(deadline(t, ample), pool, Options{}); err != nil {
				t.Errorf("migrate: %v", err)
			}
		})
	}
	all.Wait()
	s := must[*Store](t)(New(pool, Options{NoListen: true}))
	t.Cleanup(func() { _ = s.Close() })
	l := acquire(t, s, claim("e", "a", time.Minute))
	for range 50 { // on more than one of the pooler's connections
		all.Go(func() {
			if _, err := s.Renew(deadline(t, ample), l); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	release(t, s, l)
}
