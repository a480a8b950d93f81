package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenure-go/tenure/backend"
)

func init() {
	common := []string{"prefix", "timeout", "pool", "ping", "expiry", "wait", "clockstep", "strict"}
	with := func(more ...string) []string { return slices.Concat(more, common, backend.TLSParams) }
	backend.Register(backend.Driver{Schemes: []string{"redis", "rediss"}, Params: with(), Open: open})
	backend.Register(backend.Driver{Schemes: []string{"redis+sentinel"}, Params: with("db", "tls", "sentinelauth"), Open: open})
	backend.Register(backend.Driver{Schemes: []string{"redis+cluster"}, Params: with("tls"), Open: open})
}

const defaultPool = 4

// open makes a store with a client of its own. It dials when it is first used, so that a server which is away doesn't keep a candidate from starting; under
// strict it asks the server first.
func open(ctx context.Context, u *backend.URL) (backend.LeaseStore, error) {
	c, o, strict, err := parse(u)
	if err != nil {
		return nil, err
	}
	s := dial(c, o) //nolint:contextcheck // the store outlives the call
	if strict {
		if err := s.check.strict(ctx, s.client); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// dial makes the store of a client of our own.
func dial(c settings, o Options) *Store {
	client, dialer := c.client()
	s := newStore(client, o)
	s.own = dialer
	return s
}

// parse reads a URL. No error shows a path or host: where a password was not escaped, a part of it may stand there.
func parse(u *backend.URL) (c settings, o Options, strict bool, err error) {
	var errs []error
	c = settings{user: u.User, password: u.Password}
	o.Prefix = u.Text("prefix", defaultPrefix)
	flag := func(name string) bool {
		b, err := u.Bool(name)
		errs = append(errs, err)
		return b
	}
	span := func(name string, def, least time.Duration) time.Duration {
		d, err := u.Duration(name, def)
		if err == nil && d < least {
			err = fmt.Errorf("%w: URL parameter %s=%v is too short; give at least %v", backend.ErrInvalid, name, d, least)
		}
		errs = append(errs, err)
		return d
	}
	c.timeout = span("timeout", defaultTimeout, 10*time.Millisecond)
	o.Timeout = c.timeout
	o.Ping = span("ping", defaultPing, 10*time.Millisecond)
	o.ClockStep = span("clockstep", 0, 0)
	c.pool, err = u.Int("pool", defaultPool, 1)
	errs = append(errs, err)
	o.Wait, err = u.Int("wait", 0, 0)
	errs = append(errs, err)
	o.Expiry, err = expiry(u)
	errs = append(errs, err)
	strict = flag("strict")
	c.tls, err = u.TLS(flag("tls") || u.Scheme == "rediss")
	c.sentinelAuth = flag("sentinelauth")
	errs = append(errs, err, c.place(u), c.credentials(), o.check())
	o.DB = c.db
	return c, o, strict, errors.Join(errs...)
}

// expiry reads who decides that a lease has ended.
func expiry(u *backend.URL) (backend.Mode, error) {
	switch text := u.Text("expiry", "store"); text {
	case "store":
		return backend.Native, nil
	case "observed":
		return backend.Observed, nil
	default:
		return "", fmt.Errorf("%w: URL parameter expiry=%q is neither store nor observed", backend.ErrInvalid, text)
	}
}

// place reads hosts and path, which mean something else in each scheme.
func (c *settings) place(u *backend.URL) error {
	if len(u.Hosts) == 0 {
		return fmt.Errorf("%w: the %s URL names no host; write %s", backend.ErrInvalid, u.Scheme, form(u.Scheme))
	}
	port := "6379"
	path := strings.TrimPrefix(u.Path, "/")
	var err error
	switch u.Scheme {
	case "redis+sentinel":
		port = "26379"
		if c.master = path; path == "" || strings.ContainsAny(path, "/@") {
			return fmt.Errorf("%w: the path must be the master's name; write %s, and special characters in a password as %%XX", backend.ErrInvalid, form(u.Scheme))
		}
		c.db, err = u.Int("db", 0, 0)
	case "redis+cluster":
		c.cluster = true
		if path != "" && path != "0" {
			return fmt.Errorf("%w: a cluster has database 0 only; write %s", backend.ErrInvalid, form(u.Scheme))
		}
	default:
		if len(u.Hosts) > 1 {
			return fmt.Errorf("%w: %s takes one host; for several use redis+sentinel or redis+cluster", backend.ErrInvalid, u.Scheme)
		}
		c.db, err = number(path, u.Scheme)
	}
	for _, h := range u.Hosts {
		c.hosts = append(c.hosts, withPort(h, port))
	}
	return err
}

func (c *settings) credentials() error {
	switch {
	case c.user != "" && c.password == "":
		return fmt.Errorf("%w: the URL has a user without a password; write user:password@host, or :password@host", backend.ErrInvalid)
	case c.sentinelAuth && c.password == "":
		return fmt.Errorf("%w: sentinelauth=1 sends the URL's user and password to the sentinels too, but it has none", backend.ErrInvalid)
	}
	return nil
}

// number is the database in a path.
func number(path, scheme string) (int, error) {
	if path == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(path)
	if err != nil || n < 0 || strconv.Itoa(n) != path {
		return 0, fmt.Errorf("%w: the path must be the number of a database; write %s, and special characters in a password as %%XX", backend.ErrInvalid, form(scheme))
	}
	return n, nil
}

// form is an example of a scheme's URL.
func form(scheme string) string {
	switch scheme {
	case "redis+sentinel":
		return "redis+sentinel://host1,host2/master?db=0"
	case "redis+cluster":
		return "redis+cluster://host1,host2"
	}
	return scheme + "://host:6379/0"
}

func withPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}
