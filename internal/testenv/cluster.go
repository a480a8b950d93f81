package testenv

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Cluster is several servers of the test's own that work as one. Each can be frozen, thawed, killed and started again; Start
// returns when that server answers, not when the cluster works again: see Settle. A member of etcd, of Consul or of a Redis
// cluster that comes back empty, as Restart makes it, is a stranger to the others: use Kill and Start.
type Cluster struct {
	t       testing.TB
	members []*Server
	url     string
	// whole returns nil when these members, the ones that run, work together.
	whole func(ctx context.Context, running []*Server) error
	// leads returns the leader that these members agree on.
	leads func(ctx context.Context, running []*Server) (*Server, error)
}

// URL is the address of the whole cluster with its password, in the form that the project's stores accept.
func (c *Cluster) URL() string { return c.url }

// Members are the servers, always in the same order.
func (c *Cluster) Members() []*Server { return slices.Clone(c.members) }

// Settle waits until all members that are neither down nor frozen work together, with one leader where there is any. It fails
// the test when they don't within a minute. A Redis cluster doesn't settle while a member is away.
func (c *Cluster) Settle() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := c.settle(ctx); err != nil {
		c.t.Errorf("testenv: the %s cluster doesn't settle: %v", c.members[0].kind.name, err)
	}
}

func (c *Cluster) settle(ctx context.Context) error {
	return poll(ctx, nil, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		return c.whole(ctx, c.running())
	})
}

// Leader is the index of the member that leads, as all members that run agree, or -1 while they don't. A Redis cluster has none.
func (c *Cluster) Leader() int {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	if c.leads == nil {
		return -1
	}
	leader, err := c.leads(ctx, c.running())
	if err != nil {
		return -1
	}
	return slices.Index(c.members, leader)
}

// agreed is what all these servers answer.
func agreed(ctx context.Context, asked []*Server, ask func(context.Context, *Server) (string, error)) (string, error) {
	if len(asked) == 0 {
		return "", errors.New("nobody runs who could be asked")
	}
	var answer string
	for i, s := range asked {
		said, err := ask(ctx, s)
		if err != nil {
			return "", err
		}
		if i > 0 && said != answer {
			return "", fmt.Errorf("they disagree: %q and %q", said, answer)
		}
		answer = said
	}
	return answer, nil
}

// at finds the server with an address.
func at(servers []*Server, addr string) (*Server, error) {
	for _, s := range servers {
		if s.Addr() == addr {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no server that runs has the address %q", addr)
}

// running are the members that are neither down nor frozen.
func (c *Cluster) running() []*Server { return responsive(c.members) }

func responsive(servers []*Server) []*Server {
	return slices.DeleteFunc(slices.Clone(servers), func(s *Server) bool { return !s.awake() })
}

// open places the members, or ends the test where that can't be.
func (c *Cluster) open(o Options, kinds ...kind) {
	c.t.Helper()
	for _, k := range kinds {
		s, err := place(c.t, k, o)
		if errors.Is(err, errMissing) {
			missing(c.t, k, o, err)
		}
		if err != nil {
			c.t.Fatalf("testenv: %s: %v", k.name, err)
		}
		c.members = append(c.members, s)
	}
}

// start runs the members; up is to start them all and to make them a cluster.
func (c *Cluster) start(up func(ctx context.Context) error) {
	c.t.Helper()
	err := launch(c.members, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := up(ctx); err != nil {
			return err
		}
		return c.settle(ctx)
	})
	if err == nil {
		c.url, err = shared(c.members)
	}
	if err != nil {
		c.t.Fatalf("testenv: %s cluster: %v", c.members[0].kind.name, err)
	}
}

// shared is a URL with the hosts of all members.
func shared(members []*Server) (string, error) {
	u, err := url.Parse(members[0].url)
	if err != nil {
		return "", err
	}
	var hosts []string
	for _, s := range members {
		hosts = append(hosts, s.Addr())
	}
	u.Host = strings.Join(hosts, ",")
	return u.String(), nil
}

// together does the same with all servers at once.
func together(servers []*Server, do func(*Server) error) error {
	errs := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { errs[i] = do(s) })
	}
	all.Wait()
	return errors.Join(errs...)
}
