package consul

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

func init() {
	backend.Register(backend.Driver{
		Schemes: []string{"consul", "consuls"},
		Params:  append([]string{"token", "prefix", "timeout", "strict"}, backend.TLSParams...),
		Open:    open,
	})
}

const form = "consul://host:8500?token=…"

// open makes a store with a client of its own. It dials when it is first used, so that an agent which is away doesn't keep a candidate from starting; under strict it asks first.
func open(ctx context.Context, u *backend.URL) (backend.LeaseStore, error) {
	c, o, err := parse(u)
	if err != nil {
		return nil, err
	}
	strict, err := u.Bool("strict")
	if err != nil {
		return nil, err
	}
	client, wire, err := c.client()
	if err != nil {
		return nil, err
	}
	s := newStore(client, o)
	s.wire = wire
	if strict {
		if err := s.probe(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("strict=1 asks the servers before they are used: %w", err), s.Close()) //nolint:contextcheck // to clean up needs time of its own
		}
	}
	return s, nil
}

// probe reads and writes what every candidate must be able to.
func (s *Store) probe(ctx context.Context) error {
	if _, err := s.fetch(ctx, s.names.folder("probe")+"read"); err != nil {
		return err
	}
	// A transaction that writes nothing, and that the servers refuse to a token which may not.
	_, err := s.apply(ctx, &api.KVTxnOp{Verb: api.KVDelete, Key: s.names.folder("probe") + "write"})
	if err == nil {
		_, err = s.session.use(ctx)
	}
	if err != nil {
		return err
	}
	return s.strict(ctx)
}

// parse reads a URL. No error shows a path or host: where a password was not escaped, a part of it may stand there.
func parse(u *backend.URL) (c settings, o Options, err error) {
	var errs []error
	refuse := func(text string) { errs = append(errs, fmt.Errorf("%w: %s", backend.ErrInvalid, text)) }
	o.Prefix = u.Text("prefix", defaultPrefix)
	errs = append(errs, checkPrefix(o.Prefix))
	c.token = u.Text("token", "")
	c.timeout, err = u.Duration("timeout", defaultTimeout)
	if err == nil && c.timeout < 10*time.Millisecond {
		refuse(fmt.Sprintf("URL parameter timeout=%v is too short; give at least 10ms", c.timeout))
	}
	errs = append(errs, err)
	o.Timeout = c.timeout
	c.tls, err = u.TLS(u.Scheme == "consuls")
	errs = append(errs, err)
	if len(u.Hosts) == 0 {
		refuse("the " + u.Scheme + " URL names no host; write " + form)
	}
	if u.User != "" || u.Password != "" {
		refuse("a Consul URL has no user and password; write " + form)
	}
	if u.Path != "" && u.Path != "/" {
		refuse("a Consul URL has no path; name the elections' folder with prefix=…")
	}
	port := "8500"
	if u.Scheme == "consuls" {
		port = "8501"
	}
	for _, h := range u.Hosts {
		c.hosts = append(c.hosts, withPort(h, port))
	}
	return c, o, errors.Join(errs...)
}

func withPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}
