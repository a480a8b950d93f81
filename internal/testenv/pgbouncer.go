package testenv

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// PgBouncer returns a pooler in transaction mode in front of a Postgres server. It asks for the same password. Its settings
// are lines of the section [pgbouncer].
func PgBouncer(t testing.TB, pg *Server, opts ...Options) *Server {
	t.Helper()
	k := kind{name: "pgbouncer", binary: pgbouncerBinary, ports: 1, ready: postgresReady, url: postgresURL}
	k.command = func(_ context.Context, s *site) (*command, error) { return pgbouncerCommand(s, pg) }
	return open(t, k, append(opts, Options{Own: true}))
}

// pgbouncerBinary looks where Debian has it as well, which is in the PATH of root only.
func pgbouncerBinary() (string, error) {
	file, err := inPath("pgbouncer")
	if err == nil {
		return file, nil
	}
	const debian = "/usr/sbin/pgbouncer"
	if _, e := os.Stat(debian); e == nil {
		return debian, nil
	}
	return "", err
}

func pgbouncerCommand(s *site, pg *Server) (*command, error) {
	as, err := postgresAccount() // PgBouncer refuses to be root too
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(pg.Addr(), ":")
	users := filepath.Join(s.dir, "users")
	config := []string{
		"[databases]", "* = host=" + host + " port=" + port,
		"[pgbouncer]", "listen_addr = 127.0.0.1", "listen_port = " + strconv.Itoa(s.ports[0]), "unix_socket_dir =",
		"auth_type = scram-sha-256", "auth_file = " + users, "pool_mode = transaction",
		"max_client_conn = 500", "default_pool_size = 20", "ignore_startup_parameters = extra_float_digits",
		"server_tls_sslmode = prefer",
	}
	if o := s.options; o.TLS != nil {
		secure, err := postgresTLS(s, as)
		if err != nil {
			return nil, err
		}
		config = append(config, "client_tls_sslmode = require")
		for _, setting := range secure[1:] { // without ssl=on
			name, file, _ := strings.Cut(setting, "=")
			config = append(config, strings.Replace(name, "ssl_", "client_tls_", 1)+" = "+file)
		}
	}
	config = append(config, s.options.Settings...)
	file := filepath.Join(s.dir, "pgbouncer.ini")
	err = errors.Join(
		as.write(users, `"postgres" "`+strings.ReplaceAll(Password(), `"`, `""`)+"\"\n"),
		as.write(file, strings.Join(config, "\n")+"\n"),
	)
	return &command{args: []string{file}, interrupt: syscall.SIGINT, as: as}, err
}

// postgresURL is that of a server or of a pooler.
func postgresURL(at target) *url.URL {
	u := withPassword("postgres", "postgres", at.addr, "/postgres")
	u.RawQuery = "sslmode=disable"
	if at.tls != nil {
		u.RawQuery = "sslmode=verify-full"
	}
	return u
}
