package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

var postgresKind = kind{
	name:    "postgres",
	binary:  postgresBinary,
	ports:   1,
	command: postgresCommand,
	ready:   postgresReady,
	url: func(addr string) *url.URL {
		u := withPassword("postgres", "postgres", addr, "/postgres")
		u.RawQuery = "sslmode=disable"
		return u
	},
	container: container{
		port:        "5432/tcp",
		env:         map[string]string{"POSTGRES_PASSWORD": Password()},
		log:         "database system is ready to accept connections",
		occurrences: 2, // the first one is the server that the image starts for its set-up
	},
}

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
	as, err := postgresAccount()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, "data")
	c := &command{
		args: []string{
			"-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(s.ports[0]), "-k", "",
			"-c", "max_connections=200", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
		},
		interrupt: syscall.SIGINT, // fast shutdown: it doesn't wait for clients to leave
		as:        as,
	}
	for _, setting := range s.settings {
		c.args = append(c.args, "-c", setting)
	}
	if _, err := os.Stat(data); err == nil {
		return c, nil // a second start with the same data
	}
	return c, initdb(ctx, s, c, data)
}

// initdb makes an empty cluster whose only user has the password.
func initdb(ctx context.Context, s *site, c *command, data string) error {
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(Password()+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if c.as != nil {
		for _, name := range []string{secret, data} {
			if err := os.Chown(name, int(c.as.uid), int(c.as.gid)); err != nil {
				return err
			}
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(s.binary), "initdb"), "-D", data, "-U", "postgres",
		"--auth=scram-sha-256", "--pwfile="+secret, "--no-locale", "-E", "UTF8", "--no-sync")
	cmd.Dir = s.dir
	cmd.SysProcAttr = attributes(c.as)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
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
func postgresReady(ctx context.Context, addr string) error {
	c, err := dial(ctx, addr)
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
