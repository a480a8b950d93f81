package testenv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// EtcdCluster returns an etcd cluster of n members with the default timing, which asks for the password.
func EtcdCluster(t testing.TB, n int, opts ...Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t, leads: etcdLeader, whole: etcdWhole}
	o := merge(opts)
	o.Auth = true
	var kinds []kind
	for i := range n {
		k := etcdKind
		k.prepare = nil // once for all of them, below
		k.ready = etcdAnswers
		k.command = func(_ context.Context, s *site) (*command, error) {
			return etcdMember(s, fmt.Sprint("n", i), etcdPeers(c.members)), nil
		}
		kinds = append(kinds, k)
	}
	c.open(o, kinds...)
	c.start(func(ctx context.Context) error {
		if err := together(c.members, (*Server).up); err != nil {
			return err
		}
		if err := c.settle(ctx); err != nil {
			return err
		}
		return etcdPrepare(ctx, c.members[0].site, c.members[0].at)
	})
	return c
}

// etcdPeers lists the members for each other.
func etcdPeers(members []*Server) string {
	var all []string
	for i, s := range members {
		all = append(all, fmt.Sprintf("n%d=%s", i, etcdPeer(s.site)))
	}
	return strings.Join(all, ",")
}

// etcdAnswers is a member's readiness: it doesn't ask for the others, who may be away.
func etcdAnswers(ctx context.Context, at target) error {
	return at.answers(ctx, "/health?serializable=true", `"health":"true"`)
}

// etcdWhole also reads from each member what only a quorum knows.
func etcdWhole(ctx context.Context, running []*Server) error {
	if _, err := etcdLeader(ctx, running); err != nil {
		return err
	}
	return together(running, func(s *Server) error { return etcdReady(ctx, s.at) })
}

// etcdLeader asks each member whether it leads and whether it has a leader. The metrics ask for no password.
func etcdLeader(ctx context.Context, running []*Server) (*Server, error) {
	var leader *Server
	for _, s := range running {
		b, err := s.at.do(ctx, get("/metrics"))
		if err != nil {
			return nil, err
		}
		text := "\n" + string(b)
		if !strings.Contains(text, "\netcd_server_has_leader 1\n") {
			return nil, fmt.Errorf("%s has no leader", s.Addr())
		}
		if !strings.Contains(text, "\netcd_server_is_leader 1\n") {
			continue
		}
		if leader != nil {
			return nil, fmt.Errorf("both %s and %s lead", leader.Addr(), s.Addr())
		}
		leader = s
	}
	if leader == nil {
		return nil, errors.New("none that runs leads")
	}
	return leader, nil
}
