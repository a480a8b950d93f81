package testenv

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"testing"
)

const (
	redisPrimaries = 3
	redisSlots     = 16384
)

// RedisCluster returns a Redis cluster of three primaries without replicas, each with a third of the slots.
func RedisCluster(t testing.TB, opts ...Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t, whole: redisWhole}
	k := redisKind
	k.ports = 2 // the second is for the bus
	k.command = redisClusterCommand
	k.url = func(at target) *url.URL {
		u := withPassword("redis+cluster", "", at.addr, "")
		if at.tls != nil {
			u.RawQuery = "tls=1"
		}
		return u
	}
	c.open(merge(opts), k, k, k)
	c.start(func(ctx context.Context) error {
		if err := together(c.members, (*Server).up); err != nil {
			return err
		}
		return redisBond(ctx, c.members)
	})
	return c
}

func redisClusterCommand(_ context.Context, s *site) (*command, error) {
	config := "cluster-enabled yes\ncluster-node-timeout 1000\ncluster-port " + strconv.Itoa(s.ports[1]) + "\n"
	return redisCommandWith(s, config+redisPeers(s, "tls-cluster"))
}

// redisBond gives each member its slots and lets the first meet the others.
func redisBond(ctx context.Context, members []*Server) error {
	for i, s := range members {
		slots := []string{"CLUSTER", "ADDSLOTS"} // the form with ranges needs Redis 7
		for slot := i * redisSlots / redisPrimaries; slot < (i+1)*redisSlots/redisPrimaries; slot++ {
			slots = append(slots, strconv.Itoa(slot))
		}
		if _, err := s.at.redis(ctx, Password(), slots...); err != nil {
			return err
		}
		ports := s.site.ports
		if _, err := members[0].at.redis(ctx, Password(), "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(ports[0]), strconv.Itoa(ports[1])); err != nil {
			return err
		}
	}
	return nil
}

// redisWhole asks each member whether it knows all others and serves.
func redisWhole(ctx context.Context, running []*Server) error {
	for _, s := range running {
		reply, err := s.at.redis(ctx, Password(), "CLUSTER", "INFO")
		if err != nil {
			return err
		}
		state := info(reply)
		if state["cluster_state"] != "ok" || state["cluster_known_nodes"] != strconv.Itoa(redisPrimaries) {
			return fmt.Errorf("%s: state %s, %s members known", s.Addr(), state["cluster_state"], state["cluster_known_nodes"])
		}
	}
	return nil
}
