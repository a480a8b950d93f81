package postgres

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// policed makes the role of the policy file and returns its URL.
func policed(t *testing.T, srv *testenv.Server) string {
	t.Helper()
	client(t, srv.URL()) // makes the tables
	policy := string(must[[]byte](t)(os.ReadFile("../../deploy/policies/postgres.sql")))
	admin := raw(t, srv.URL())
	exec(t, admin, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
	exec(t, admin, "CREATE ROLE elector LOGIN PASSWORD '"+testenv.Password()+"'")
	exec(t, admin, policy, pgx.QueryExecModeSimpleProtocol)
	u := must[*url.URL](t)(url.Parse(srv.URL()))
	u.User = url.UserPassword("elector", testenv.Password())
	return u.String()
}

// The documented grants are enough for everything.
func TestConformanceWithLeastPrivilege(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	role := policed(t, srv)
	s := client(t, role)
	for _, w := range inner(t, s).Warnings() {
		if !strings.Contains(w, "fsync") { // the test server's own
			t.Error(w)
		}
	}
	tx := begin(t, raw(t, role), pgx.ReadCommitted)
	if err := inner(t, s).Fence(deadline(t, ample), tx, acquire(t, s, claim("fenced", "a", time.Minute))); err != nil {
		t.Errorf("fence: %v", err)
	}
	if err := tx.Rollback(deadline(t, ample)); err != nil {
		t.Error(err)
	}
	c := suite(t, role, srv.URL())
	c.StoreOnly = true
	conformance.Run(t, c)
}

// PE61: each grant is needed: what fails without it.
func TestEachGrantIsNeeded(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	role := policed(t, srv)
	admin := raw(t, srv.URL())
	old := client(t, role)
	l := acquire(t, old, claim("e", "a", time.Minute))
	release(t, old, acquire(t, old, claim("free", "a", time.Minute)))
	release(t, old, acquire(t, old, claim("forgotten", "a", time.Minute)))
	forgotten := get(t, old, "forgotten")
	enlist(t, old, candidate("e", "a", time.Hour))
	calls := map[string]func(context.Context, backend.LeaseStore) error{
		"the first call": func(ctx context.Context, s backend.LeaseStore) error { _, err := s.Get(ctx, "e"); return err },
		"get":            func(ctx context.Context, _ backend.LeaseStore) error { _, err := old.Get(ctx, "e"); return err },
		"renew":          func(ctx context.Context, _ backend.LeaseStore) error { _, err := old.Renew(ctx, l); return err },
		"acquire": func(ctx context.Context, _ backend.LeaseStore) error {
			_, err := old.Acquire(ctx, claim("free", "a", time.Minute))
			return err
		},
		"release": func(ctx context.Context, _ backend.LeaseStore) error { return old.Release(ctx, l, backend.Handover{}) },
		"a new election": func(ctx context.Context, _ backend.LeaseStore) error {
			_, err := old.Acquire(ctx, claim("new", "a", time.Minute))
			return err
		},
		"raise the counter": func(ctx context.Context, _ backend.LeaseStore) error { return inner(t, old).Raise(ctx, "e", l.Token) },
		"list elections": func(ctx context.Context, _ backend.LeaseStore) error {
			_, err := inner(t, old).Elections(ctx, "", 1)
			return err
		},
		"forget": func(ctx context.Context, _ backend.LeaseStore) error { return inner(t, old).Forget(ctx, forgotten) },
		"enlist": func(ctx context.Context, _ backend.LeaseStore) error {
			return inner(t, old).Enlist(ctx, candidate("e", "a", time.Hour))
		},
		"delist": func(ctx context.Context, _ backend.LeaseStore) error { return inner(t, old).Delist(ctx, "e", "a") },
		"candidates": func(ctx context.Context, _ backend.LeaseStore) error {
			_, err := inner(t, old).Candidates(ctx, "e")
			return err
		},
	}
	needs := map[string][]string{
		"USAGE ON SCHEMA public":         {"the first call", "get", "renew", "acquire", "release", "a new election", "raise the counter"},
		"SELECT ON public.tenure_schema": {"the first call"},
		"SELECT ON public.tenure_lease":  {"get", "renew", "acquire", "release", "a new election", "raise the counter", "list elections", "forget"},
		"INSERT ON public.tenure_lease":  {"a new election", "raise the counter"},
		"UPDATE ON public.tenure_lease":  {"renew", "acquire", "release", "a new election", "raise the counter", "forget"},
		"DELETE ON public.tenure_lease":  {"forget"},
		"SELECT ON public.tenure_roster": {"enlist", "delist", "candidates"},
		"INSERT ON public.tenure_roster": {"enlist"},
		"UPDATE ON public.tenure_roster": {"enlist"},
		"DELETE ON public.tenure_roster": {"enlist", "delist"},
	}
	for grant, denied := range needs {
		lease := strings.HasSuffix(grant, "lease")
		exec(t, admin, "REVOKE "+grant+" FROM elector")
		s := client(t, role)
		if lease && (strings.HasPrefix(grant, "INSERT") || strings.HasPrefix(grant, "UPDATE")) {
			get(t, s, "e")
			eventually(t, "a warning without "+grant, func() bool { return strings.Contains(strings.Join(inner(t, s).Warnings(), " "), "can't lead") })
		}
		for _, what := range denied {
			class(t, what+" without "+grant, calls[what](deadline(t, ample), s), backend.Denied)
		}
		exec(t, admin, "GRANT "+grant+" TO elector")
	}
	renew(t, old, l)
	for what, call := range calls { // and with all of them each works
		if what != "release" {
			class(t, what, call(deadline(t, ample), old), backend.OK)
		}
	}
}
