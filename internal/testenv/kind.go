package testenv

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"
)

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
	ready func(ctx context.Context, at target) error
	// url is the address in the form that the project's stores accept.
	url func(at target) *url.URL
	// prepare is what an empty server needs after it serves, if anything.
	prepare func(ctx context.Context, s *site, at target) error
	// requests is what the server itself has counted, or nil.
	requests func(ctx context.Context, s *Server) (int64, error)
	// container says how to run the server where only a container engine is there.
	container container
}

func (k kind) variable() string { return "TENURE_TEST_" + strings.ToUpper(k.name) + "_URL" }

// allKinds are those that Containers finds by name.
var allKinds = []kind{redisKind, etcdKind, postgresKind, consulKind}

// await asks until the server serves, its process ends or the context does.
func (k kind) await(ctx context.Context, at target, ended <-chan struct{}) error {
	return poll(ctx, ended, func(ctx context.Context) error { return k.probe(ctx, at) })
}

// poll asks until there is no error, a process ends or the context does.
func poll(ctx context.Context, ended <-chan struct{}, ask func(context.Context) error) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := ask(ctx)
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
func (k kind) probe(ctx context.Context, at target) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return k.ready(ctx, at)
}

// site is the place in which one server runs.
type site struct {
	dir     string
	binary  string
	ports   []int
	options Options
}

func (s *site) addr() string { return loopback(s.ports[0]) }

func loopback(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// withPassword is a URL with the password of the test environment.
func withPassword(scheme, user, addr, path string) *url.URL {
	return &url.URL{Scheme: scheme, User: url.UserPassword(user, Password()), Host: addr, Path: path}
}
