package testenv

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// psql runs a statement on a server, or through a URL with several.
func psql(ctx context.Context, s *Server, raw, statement string) (string, error) {
	found, err := postgresBinary()
	if err != nil {
		return "", err
	}
	raw = strings.Replace(raw, ":"+url.QueryEscape(Password())+"@", "@", 1)
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(found), "psql"), raw, "-XAtc", statement)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+Password(), "PGCONNECT_TIMEOUT=5")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", s.kind.name, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

func TestPostgresReplica(t *testing.T) {
	t.Parallel()
	pg := Postgres(t, Options{Own: true})
	replica := PostgresReplica(t, pg)
	run := func(s *Server, raw, statement, want string) {
		t.Helper()
		if got, err := psql(t.Context(), s, raw, statement); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", statement, got, err, want)
		}
	}
	run(pg, pg.URL(), "create table t as select 42 as n", "SELECT 1")
	eventually(t, "the table arrives", func(ctx context.Context) error {
		_, err := psql(ctx, replica, replica.URL(), "select n from t")
		return err
	})
	if _, err := psql(t.Context(), replica, replica.URL(), "insert into t values (1)"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a write on the replica: %v", err)
	}
	both, turned := pg.ReplicatedURL(replica), replica.ReplicatedURL(pg)
	hosts(t, both, "postgres", []*Server{pg, replica})
	const port = "select current_setting('port')"
	run(pg, both, port, strings.Split(pg.Addr(), ":")[1])
	run(pg, turned, port, strings.Split(pg.Addr(), ":")[1])

	replica.Kill()
	replica.Start()
	pg.Kill()
	run(replica, replica.URL(), "select n from t", "42")
	replica.Promote()
	run(replica, both, "insert into t values (1)", "INSERT 0 1")
	pg.Start() // the data of before: two primaries
	run(pg, pg.URL(), "select count(*) from t", "1")

	f := &fake{}
	f.run(func() { (&Server{kind: postgresKind, t: f, site: pg.site, proc: pg.proc}).Promote() })
	if len(f.errors) != 1 {
		t.Errorf("promoting a primary: %v", f.errors)
	}
}

func TestPgBouncer(t *testing.T) {
	t.Parallel()
	a := NewAuthority(t)
	pair := a.Server()
	for name, o := range map[string]Options{"plain": {Own: true}, "TLS": {TLS: &pair}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pg := Postgres(t, o)
			pooler := PgBouncer(t, pg, o)
			through := pooler.URL()
			if o.TLS != nil {
				through += "&sslrootcert=" + a.CA()
			}
			eventually(t, "the pooler serves", func(ctx context.Context) error {
				_, err := psql(ctx, pooler, through, "select 1")
				return err
			})
			// Two clients, one connection of the server: what tells transaction mode is a setting that outlives its client.
			if _, err := psql(t.Context(), pooler, through, "set application_name = 'of another'; set search_path = 'pg_catalog'"); err != nil {
				t.Error(err)
			}
			if got, err := psql(t.Context(), pooler, through, "show search_path"); err != nil || got != "pg_catalog" {
				t.Errorf("search path %q, %v", got, err)
			}
			wrong := strings.Replace(through, "postgres:", "stranger:", 1)
			if _, err := psql(t.Context(), pooler, strings.Replace(wrong, "stranger://", "postgres://", 1)+"&user=stranger", "select 1"); err == nil {
				t.Error("it lets a stranger in")
			}
			pooler.Freeze()
			silent(t, pooler.kind, pooler)
			pooler.Thaw()
			pooler.Kill()
			silent(t, pooler.kind, pooler)
			serves(t, postgresKind, pg)
			pooler.Start()
			if _, err := psql(t.Context(), pooler, through, "select 1"); err != nil {
				t.Error(err)
			}
		})
	}
}
