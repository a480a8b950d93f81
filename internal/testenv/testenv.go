package testenv

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Options say what a test needs of its server. The zero value is a server that may be shared with others.
type Options struct {
	// Own asks for a server of the test's own, started from a binary, with working fault controls.
	Own bool
	// Settings are added to the server's own configuration and imply Own: lines of redis.conf, flags of etcd, name=value
	// pairs of Postgres, lines of a Consul configuration file in HCL.
	Settings []string
	// TLS is the certificate that the server shows. It implies Own. The server speaks TLS only, its URL has the scheme for it
	// (for Postgres sslmode=verify-full) and doesn't say which authority to trust: the test adds that.
	TLS *Pair
	// ClientCA is the file of an [Authority]: clients must show a certificate of it. It needs TLS. Empty: they need none.
	ClientCA string
	// Auth makes etcd and Redis's sentinels ask for the password, as the other servers always do. It implies Own.
	Auth bool
}

// merge joins what a test gave.
func merge(opts []Options) Options {
	var o Options
	for _, given := range opts {
		o.Own = o.Own || given.Own || given.TLS != nil || given.Auth || len(given.Settings) > 0
		o.Settings = append(o.Settings, given.Settings...)
		o.TLS = cmp.Or(given.TLS, o.TLS)
		o.ClientCA = cmp.Or(given.ClientCA, o.ClientCA)
		o.Auth = o.Auth || given.Auth
	}
	return o
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

// Etcdctl is the path of etcd's own tool, which make servers builds beside the server.
func Etcdctl(t testing.TB) string {
	t.Helper()
	path, err := cached("etcdctl", version("ETCD_VERSION"))
	if err != nil {
		missing(t, etcdKind, Options{}, err)
	}
	return path
}

func open(t testing.TB, k kind, opts []Options) *Server {
	t.Helper()
	o := merge(opts)
	if o.ClientCA != "" && o.TLS == nil {
		t.Fatal("testenv: Options.ClientCA needs Options.TLS")
	}
	if given := os.Getenv(k.variable()); given != "" && !o.Own {
		s, err := external(t, k, given)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, err := start(t, k, o)
	if err == nil {
		return s
	}
	if !errors.Is(err, errMissing) {
		t.Fatalf("testenv: %s: %v", k.name, err)
	}
	reasons := []error{err}
	if !o.Own {
		if s, err = contain(t, k); err == nil {
			return s
		}
		reasons = append(reasons, err)
	}
	missing(t, k, o, errors.Join(reasons...))
	return nil
}

// external describes a server that somebody else runs.
func external(t testing.TB, k kind, given string) (*Server, error) {
	u, err := url.Parse(given)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("testenv: %s is no URL with a host (its text isn't shown: it may hold a password)", k.variable())
	}
	return &Server{kind: k, t: t, at: target{addr: u.Host}, url: given}, nil
}

// errMissing marks that this machine has no such server, as opposed to one that doesn't start.
var errMissing = errors.New("no server")

// missing ends a test that can have no server: it fails where servers must be there, and is skipped with a notice elsewhere.
func missing(t testing.TB, k kind, o Options, reason error) {
	t.Helper()
	remedy := "run 'make servers KINDS=" + k.name + "'"
	if !o.Own {
		remedy += ", or set " + k.variable()
	}
	unavailable(t, k, fmt.Sprintf("%s: no %s server for this test: %s (tried: %s)", t.Name(), k.name, remedy, strings.ReplaceAll(reason.Error(), "\n", "; ")))
}

// unavailable ends the test with a notice that says what to do.
func unavailable(t testing.TB, k kind, notice string) {
	t.Helper()
	if required(k) {
		t.Fatal(notice)
	}
	announce(notice)
	t.Skip(notice)
}

// required reports whether a missing server of this kind is a failure.
func required(k kind) bool {
	if !inCI() {
		return false
	}
	kinds, limited := os.LookupEnv("TENURE_TEST_KINDS")
	return !limited || slices.Contains(strings.Fields(kinds), k.name)
}

// Skip skips a test that can't be played here, and says so where the user of go test sees it. In CI everything can be played: there it fails.
func Skip(t testing.TB, reason string) {
	t.Helper()
	notice := t.Name() + ": " + reason
	if inCI() {
		t.Fatal(notice)
	}
	announce(notice)
	t.Skip(notice)
}

// inCI reports whether nothing may be missing.
func inCI() bool {
	ci, err := strconv.ParseBool(cmp.Or(os.Getenv("CI"), "false"))
	return err != nil || ci
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
