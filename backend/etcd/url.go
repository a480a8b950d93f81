package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/tenure-go/tenure/backend"
)

func init() {
	params := []string{"prefix", "timeout", "ping", "strict"}
	backend.Register(backend.Driver{Schemes: []string{"etcd", "etcds"}, Params: append(params, backend.TLSParams...), Open: open})
}

const port = "2379"

// open makes a store with a client of its own. It connects when it is first used, so that a cluster which is away doesn't keep a candidate from starting; under strict it asks
// the members first.
func open(ctx context.Context, u *backend.URL) (backend.LeaseStore, error) {
	c, o, strict, err := parse(u)
	if err != nil {
		return nil, err
	}
	client, l, err := c.client()
	if err != nil {
		return nil, err
	}
	s := newStore(client, o) //nolint:contextcheck // the store outlives the call
	s.own, s.login = true, l
	if strict {
		if err := s.strict(ctx); err != nil {
			return nil, errors.Join(err, s.Close()) //nolint:contextcheck // closing isn't part of the call
		}
	}
	return s, nil
}

// parse reads a URL. No error shows a path or host: where a password was not escaped, a part of it may stand there.
func parse(u *backend.URL) (c settings, o Options, strict bool, err error) {
	var errs []error
	span := func(name string, def time.Duration) time.Duration {
		d, err := u.Duration(name, def)
		if err == nil && d < leastTime {
			err = fmt.Errorf("%w: URL parameter %s=%v is too short; give at least %v", backend.ErrInvalid, name, d, leastTime)
		}
		errs = append(errs, err)
		return d
	}
	o.Prefix = u.Text("prefix", defaultPrefix)
	errs = append(errs, backend.CheckName("prefix", o.Prefix))
	o.Timeout, o.Ping = span("timeout", defaultTimeout), span("ping", defaultPing)
	c = settings{user: u.User, password: u.Password, timeout: o.Timeout}
	strict, err = u.Bool("strict")
	errs = append(errs, err)
	c.tls, err = u.TLS(u.Scheme == "etcds")
	errs = append(errs, err, c.place(u))
	return c, o, strict, errors.Join(errs...)
}

const leastTime = 10 * time.Millisecond

// place reads hosts, path and user.
func (c *settings) place(u *backend.URL) error {
	form := u.Scheme + "://user:password@host1,host2,host3"
	switch {
	case len(u.Hosts) == 0:
		return fmt.Errorf("%w: the %s URL names no host; write %s", backend.ErrInvalid, u.Scheme, form)
	case u.Path != "" && u.Path != "/":
		return fmt.Errorf("%w: an %s URL has no path; write %s?prefix=name, and special characters in a password as %%XX", backend.ErrInvalid, u.Scheme, form)
	case (u.User == "") != (u.Password == ""):
		return fmt.Errorf("%w: user and password go together; write %s", backend.ErrInvalid, form)
	}
	scheme := "http://"
	if u.Scheme == "etcds" {
		scheme = "https://"
	}
	for _, h := range u.Hosts {
		if _, _, err := net.SplitHostPort(h); err != nil {
			h = net.JoinHostPort(strings.Trim(h, "[]"), port)
		}
		c.endpoints = append(c.endpoints, scheme+h)
	}
	return nil
}
