package testenv

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

var postgresKind = kind{
	name:     "postgres",
	binary:   postgresBinary,
	ports:    1,
	command:  postgresCommand,
	ready:    postgresReady,
	requests: postgresRequests,
	url:      postgresURL,
	container: container{
		port:        "5432/tcp",
		cmd:         append([]string{"postgres"}, postgresSettings...),
		env:         map[string]string{"POSTGRES_PASSWORD": Password()},
		log:         "database system is ready to accept connections",
		occurrences: 2, // the first one is the server that the image starts for its set-up
	},
}

// postgresSettings are for many clients and for data that dies with the test.
var postgresSettings = []string{"-c", "max_connections=200", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off"}

// postgresBinary prefers the newest of Debian's versions, which are not in PATH.
func postgresBinary() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return inPath("postgres")
	}
	return slices.MaxFunc(found, func(a, b string) int { return debianVersion(a) - debianVersion(b) }), nil
}

// debianVersion is the 15 of /usr/lib/postgresql/15/bin/postgres.
func debianVersion(binary string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(binary)))) // 0 for a folder of another kind: the last choice
	return n
}

func postgresCommand(ctx context.Context, s *site) (*command, error) {
	return postgresServer(s, func(c *command, data string) error { return initdb(ctx, s, c, data) })
}

// postgresServer is a server whose data is made where there is none yet.
func postgresServer(s *site, fill func(c *command, data string) error) (*command, error) {
	as, err := postgresAccount()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, "data")
	hba := filepath.Join(s.dir, "hba.conf")
	c := &command{
		args: append([]string{
			"-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(s.ports[0]), "-k", "", "-c", "hba_file=" + hba,
		}, postgresSettings...),
		interrupt: syscall.SIGINT, // fast shutdown: it doesn't wait for clients to leave
		as:        as,
	}
	secure, err := postgresTLS(s, as)
	if err != nil {
		return nil, err
	}
	for _, setting := range append(secure, s.options.Settings...) {
		c.args = append(c.args, "-c", setting)
	}
	if err := as.write(hba, postgresAccess(s.options)); err != nil {
		return nil, err
	}
	if _, err := os.Stat(data); err == nil {
		return c, nil // a second start with the same data
	}
	return c, fill(c, data)
}

// postgresAccess is who may log in from where: with TLS nobody without it.
func postgresAccess(o Options) string {
	line := "host"
	if o.TLS != nil {
		line = "hostssl"
	}
	rule := " all 127.0.0.1/32 scram-sha-256"
	if o.ClientCA != "" {
		rule += " clientcert=verify-ca"
	}
	return line + " all" + rule + "\n" + line + " replication" + rule + "\n"
}

// postgresTLS copies the certificate: Postgres wants its key to belong to its own user.
func postgresTLS(s *site, as *account) ([]string, error) {
	o := s.options
	if o.TLS == nil {
		return nil, nil
	}
	settings := []string{"ssl=on"}
	for name, file := range map[string]string{"ssl_cert_file": o.TLS.Cert, "ssl_key_file": o.TLS.Key, "ssl_ca_file": o.ClientCA} {
		if file == "" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		own := filepath.Join(s.dir, name)
		if err := as.write(own, string(text)); err != nil {
			return nil, err
		}
		settings = append(settings, name+"="+own)
	}
	return settings, nil
}

// initdb makes an empty cluster whose only user has the password.
func initdb(ctx context.Context, s *site, c *command, data string) error {
	secret := filepath.Join(s.dir, "password")
	if err := c.as.write(secret, Password()+"\n"); err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir(data, 0o700), c.as.own(data)); err != nil {
		return err
	}
	return c.tool(ctx, s, "initdb", "-D", data, "-U", "postgres", "--auth=scram-sha-256", "--pwfile="+secret, "--no-locale", "-E", "UTF8", "--no-sync")
}

// postgresAccount is the user to run as: Postgres refuses to be root.
func postgresAccount() (*account, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // nil means the present user
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("postgres refuses to run as root: %w", err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &account{uid: uint32(uid), gid: uint32(gid)}, errors.Join(err1, err2)
}

// postgresReady logs in as far as the server's demand for a password: while the server starts up it sends an error instead.
func postgresReady(ctx context.Context, at target) error {
	c, err := postgresDial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	const startup = "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00" // protocol 3.0
	if _, err := c.Write(append([]byte{0, 0, 0, byte(4 + len(startup))}, startup...)); err != nil {
		return err
	}
	reply := make([]byte, 1)
	if _, err := io.ReadFull(c, reply); err != nil {
		return err
	}
	if reply[0] != 'R' { // an authentication request
		rest, _ := io.ReadAll(io.LimitReader(c, 512)) // best effort: the text of the error
		return fmt.Errorf("postgres answers %q", strings.ToValidUTF8(string(reply)+string(rest), "."))
	}
	return nil
}

// postgresDial asks for TLS in Postgres's own way, where it is on.
func postgresDial(ctx context.Context, at target) (net.Conn, error) {
	c, err := at.dialPlain(ctx)
	if err != nil || at.tls == nil {
		return c, err
	}
	reply := make([]byte, 1)
	if _, err = c.Write([]byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}); err == nil { // SSLRequest
		_, err = io.ReadFull(c, reply)
	}
	if err == nil && reply[0] != 'S' {
		err = fmt.Errorf("postgres answers %q to a request for TLS", reply)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return tls.Client(c, at.tls), nil
}
