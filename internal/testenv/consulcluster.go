package testenv

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ConsulCluster returns n Consul servers that keep their data and have the default limits. Clients may use any of them: a
// member's URL is that server's.
func ConsulCluster(t testing.TB, n int, opts ...Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	c.leads = func(ctx context.Context, running []*Server) (*Server, error) {
		addr, err := agreed(ctx, running, consulLeader)
		if err != nil {
			return nil, err
		}
		return consulAt(running, addr)
	}
	c.whole = func(ctx context.Context, running []*Server) error {
		if _, err := c.leads(ctx, running); err != nil {
			return err
		}
		return together(running, func(s *Server) error { return consulServes(ctx, s.at) })
	}
	var kinds []kind
	for i := range n {
		k := consulKind
		// Whether there is a leader depends on the others, who may be away.
		k.ready = func(ctx context.Context, at target) error { return at.answers(ctx, "/v1/status/leader", "") }
		k.command = func(_ context.Context, s *site) (*command, error) { return consulMember(s, i, c.members) }
		kinds = append(kinds, k)
	}
	c.open(merge(opts), kinds...)
	c.start(func(context.Context) error { return together(c.members, (*Server).up) })
	return c
}

func consulMember(s *site, i int, members []*Server) (*command, error) {
	var peers []string
	for _, m := range members {
		peers = append(peers, loopback(m.site.ports[1]))
	}
	join, err := json.Marshal(peers)
	if err != nil {
		return nil, err
	}
	config := consulServer(s) + fmt.Sprintf(`
		server = true
		bootstrap_expect = %d
		data_dir = %q
		retry_join = %s
		retry_interval = "200ms"
		performance { raft_multiplier = 1 }
	`, len(members), filepath.Join(s.dir, "data"), join)
	file := filepath.Join(s.dir, "consul.hcl")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return &command{args: []string{"agent", fmt.Sprintf("-node=n%d", i), "-log-level=warn", "-config-file=" + file}, interrupt: syscall.SIGTERM}, nil
}

// consulServes asks the leader through a member, and does so again when that leader was not ready to answer.
func consulServes(ctx context.Context, at target) error {
	if err := consulKnows(ctx, at); err != nil {
		return err
	}
	_, err := at.do(ctx, request{method: http.MethodGet, path: "/v1/session/list?consistent", header: consulToken()})
	return err
}

func consulToken() http.Header { return http.Header{"X-Consul-Token": {Password()}} }

// consulLeader is the address of the leader as a member knows it, or nothing.
func consulLeader(ctx context.Context, asked *Server) (string, error) {
	b, err := asked.at.do(ctx, get("/v1/status/leader"))
	return strings.Trim(strings.TrimSpace(string(b)), `"`), err
}

// consulAt finds a member by the address that the others know: servers speak to each other on a port of their own.
func consulAt(members []*Server, addr string) (*Server, error) {
	for _, s := range members {
		if loopback(s.site.ports[3]) == addr {
			return s, nil
		}
	}
	return nil, fmt.Errorf("none that runs has the leader's address %q", addr)
}
