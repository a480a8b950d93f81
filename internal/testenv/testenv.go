package testenv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options say what a test needs of its server. The zero value is a server that may be shared with others.
type Options struct {
	// Own asks for a server of the test's own, started from a binary, with working fault controls.
	Own bool
	// Settings are added to the server's own configuration and imply Own: lines of redis.conf, flags of etcd, name=value
	// pairs of Postgres, lines of a Consul configuration file in HCL.
	Settings []string
}

// Redis returns a Redis server for the test.
func Redis(t testing.TB, opts ...Options) *Server {
	t.Helper()
	return open(t, redisKind, opts)
}

// Etcd returns an etcd server for the test.
func Etcd(t testing.TB, opts ...Options) *Server {
	t.Helper()
	return open(t, etcdKind, opts)
}

// Postgres returns a Postgres server for the test.
func Postgres(t testing.TB, opts ...Options) *Server {
	t.Helper()
	return open(t, postgresKind, opts)
}

// Consul returns a Consul agent for the test.
func Consul(t testing.TB, opts ...Options) *Server {
	t.Helper()
	return open(t, consulKind, opts)
}

// Password is what every server of the test environment asks for: TENURE_CANARY, or a fixed word.
func Password() string { return cmp.Or(os.Getenv("TENURE_CANARY"), "canary-7f3a-hunter2") }

func open(t testing.TB, k kind, opts []Options) *Server {
	t.Helper()
	var o Options
	for _, given := range opts {
		o.Own = o.Own || given.Own
		o.Settings = append(o.Settings, given.Settings...)
	}
	own := o.Own || len(o.Settings) > 0

	if given := os.Getenv(k.variable()); given != "" && !own {
		s, err := external(t, k, given)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, err := start(t, k, o.Settings)
	if err == nil {
		return s
	}
	if !errors.Is(err, errMissing) {
		t.Fatalf("testenv: %s: %v", k.name, err)
	}
	reasons := []error{err}
	if !own {
		if s, err = contain(t, k); err == nil {
			return s
		}
		reasons = append(reasons, err)
	}
	missing(t, k, errors.Join(reasons...))
	return nil
}

// external describes a server that somebody else runs.
func external(t testing.TB, k kind, given string) (*Server, error) {
	u, err := url.Parse(given)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("testenv: %s is no URL with a host (its text isn't shown: it may hold a password)", k.variable())
	}
	return &Server{kind: k, t: t, addr: u.Host, url: given}, nil
}

// errMissing marks that this machine has no such server, as opposed to one that doesn't start.
var errMissing = errors.New("no server")

// missing ends the test: it fails it where servers must be there, and skips it with a notice elsewhere.
func missing(t testing.TB, k kind, reason error) {
	t.Helper()
	notice := fmt.Sprintf("%s: no %s server for this test: run 'make servers KINDS=%s', or set %s (tried: %s)",
		t.Name(), k.name, k.name, k.variable(), strings.ReplaceAll(reason.Error(), "\n", "; "))
	if required(k) {
		t.Fatal(notice)
	}
	announce(notice)
	t.Skip(notice)
}

// required reports whether a missing server of this kind is a failure.
func required(k kind) bool {
	if ci, err := strconv.ParseBool(cmp.Or(os.Getenv("CI"), "false")); err == nil && !ci {
		return false
	}
	kinds, limited := os.LookupEnv("TENURE_TEST_KINDS")
	return !limited || slices.Contains(strings.Fields(kinds), k.name)
}

var announcing sync.Mutex

// announce writes a notice where the user of go test sees it.
func announce(notice string) {
	announcing.Lock()
	defer announcing.Unlock()
	fmt.Fprintln(os.Stderr, "SKIPPED", notice)
	name := os.Getenv("TENURE_TEST_NOTICES")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testenv: TENURE_TEST_NOTICES:", err)
		return
	}
	_, err = fmt.Fprintln(f, notice)
	if err = errors.Join(err, f.Close()); err != nil {
		fmt.Fprintln(os.Stderr, "testenv: TENURE_TEST_NOTICES:", err)
	}
}

// kind is one sort of server: how to find, start, ask and address it.
type kind struct {
	name string
	// binary finds the program, or says what was looked for.
	binary func() (string, error)
	// ports is how many free ports a server needs. The first is the one that clients use.
	ports int
	// command writes the configuration into the site's folder and returns the command that runs the server.
	command func(ctx context.Context, s *site) (*command, error)
	// ready exchanges a few bytes with the server and returns nil when it serves.
	ready func(ctx context.Context, addr string) error
	// url is the address in the form that the project's stores accept.
	url func(addr string) *url.URL
	// container says how to run the server where only a container engine is there.
	container container
}

func (k kind) variable() string { return "TENURE_TEST_" + strings.ToUpper(k.name) + "_URL" }

// await asks until the server serves, its process ends or the context does.
func (k kind) await(ctx context.Context, addr string, ended <-chan struct{}) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := k.probe(ctx, addr)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("the process has ended")
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// probe asks once. Its own timeout is for the case that the port belongs to a stranger who never answers.
func (k kind) probe(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return k.ready(ctx, addr)
}

// site is the place in which one server runs.
type site struct {
	dir      string
	binary   string
	ports    []int
	settings []string
}

func (s *site) addr() string { return loopback(s.ports[0]) }

func loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// withPassword is a URL with the password of the test environment.
func withPassword(scheme, user, addr, path string) *url.URL {
	return &url.URL{Scheme: scheme, User: url.UserPassword(user, Password()), Host: addr, Path: path}
}
