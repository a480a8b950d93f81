package testenv

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// PostgresReplica returns a server that follows another by streaming replication and answers reads. It has that server's
// options. Restart copies it afresh. A primary that wants client certificates is none for it.
func PostgresReplica(t testing.TB, pg *Server, opts ...Options) *Server {
	t.Helper()
	if pg.site == nil || pg.site.options.ClientCA != "" {
		t.Fatal("testenv: a replica needs a Postgres of the test's own, without client certificates")
	}
	k := postgresKind
	k.command = func(ctx context.Context, s *site) (*command, error) {
		return postgresServer(s, func(c *command, data string) error { return baseBackup(ctx, s, c, data, pg) })
	}
	return open(t, k, append([]Options{pg.site.options, {Own: true}}, opts...))
}

// baseBackup copies a running server; what it writes makes the copy follow that one.
func baseBackup(ctx context.Context, s *site, c *command, data string, pg *Server) error {
	secret := filepath.Join(s.dir, "passfile")
	if err := c.as.write(secret, "*:*:*:postgres:"+strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(Password())+"\n"); err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir(data, 0o700), c.as.own(data)); err != nil {
		return err
	}
	host, port, _ := strings.Cut(pg.Addr(), ":")
	conn := fmt.Sprintf("host=%s port=%s user=postgres passfile=%s sslmode=prefer", host, port, secret)
	return c.tool(ctx, s, "pg_basebackup", "-d", conn, "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
}

// tool runs one of Postgres's own programs as the server's user.
func (c *command) tool(ctx context.Context, s *site, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(s.binary), name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = attributes(c.as)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// Promote makes a Postgres replica a primary; it returns when it takes writes. The one that it followed isn't told.
func (s *Server) Promote() {
	s.t.Helper()
	s.control("Promote", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		as, err := postgresAccount()
		if err != nil {
			return err
		}
		return (&command{as: as}).tool(ctx, s.site, "pg_ctl", "promote", "-w", "-D", filepath.Join(s.site.dir, "data"))
	})
}

// ReplicatedURL is the URL of a Postgres server and its replicas together: a client takes the one that accepts writes.
func (s *Server) ReplicatedURL(replicas ...*Server) string {
	raw, err := shared(append([]*Server{s}, replicas...))
	if err != nil {
		s.t.Errorf("testenv: %v", err)
		return ""
	}
	u, _ := url.Parse(s.url) // it went well in shared
	q := u.Query()
	q.Set("target_session_attrs", "read-write")
	before, _, _ := strings.Cut(raw, "?")
	return before + "?" + q.Encode()
}
