package testenv

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// sentinelName is what the sentinels call the primary and its replicas.
const sentinelName = "mymaster"

const sentinels = 3

// Sentinel is a Redis primary, two replicas, and three sentinels which make a replica the primary when that is away.
type Sentinel struct{ Cluster }

// RedisSentinel returns such a set-up. The sentinels ask for the password only with Options.Auth. They take a server for dead
// after half a second and try a failover again after three.
func RedisSentinel(t testing.TB, opts ...Options) *Sentinel {
	t.Helper()
	s := &Sentinel{Cluster{t: t}}
	s.whole = s.together
	o := merge(opts)
	data, watch := redisKind, redisKind
	data.command = s.serverCommand
	watch.command = s.sentinelCommand
	watch.ready = func(ctx context.Context, at target) error {
		_, err := at.redis(ctx, sentinelPassword(o), "PING")
		return err
	}
	watch.url = sentinelURL(o)
	s.open(o, data, data, data, watch, watch, watch)
	s.start(func(context.Context) error {
		for _, some := range [][]*Server{s.Members(), s.Sentinels()} {
			if err := together(some, (*Server).up); err != nil {
				return err
			}
		}
		return nil
	})
	var err error
	if s.url, err = shared(s.Sentinels()); err != nil {
		t.Fatalf("testenv: sentinels: %v", err)
	}
	return s
}

// Members are the three servers that hold data; the first is the primary at first.
func (s *Sentinel) Members() []*Server { return slices.Clone(s.members[:len(s.members)-sentinels]) }

// Sentinels are the three sentinels.
func (s *Sentinel) Sentinels() []*Server { return slices.Clone(s.members[len(s.members)-sentinels:]) }

// Primary is the server that all sentinels that run take for the primary, or nil while they don't agree.
func (s *Sentinel) Primary() *Server {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	primary, err := s.primary(ctx)
	if err != nil {
		return nil
	}
	return primary
}

// Replicas are the servers that a sentinel takes for replicas that are up.
func (s *Sentinel) Replicas() []*Server {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	for _, asked := range responsive(s.Sentinels()) {
		if replicas, err := s.replicas(ctx, asked); err == nil {
			return replicas
		}
	}
	return nil
}

func sentinelPassword(o Options) string {
	if o.Auth {
		return Password()
	}
	return ""
}

func sentinelURL(o Options) func(target) *url.URL {
	return func(at target) *url.URL {
		u := withPassword("redis+sentinel", "", at.addr, "/"+sentinelName)
		q := url.Values{}
		if at.tls != nil {
			q.Set("tls", "1")
		}
		if o.Auth {
			q.Set("sentinelauth", "1")
		}
		u.RawQuery = q.Encode()
		return u
	}
}

// serverCommand makes all servers but the first replicas of it. Afterwards it is the sentinels who say what they are.
func (s *Sentinel) serverCommand(_ context.Context, at *site) (*command, error) {
	config := "masterauth " + Password() + "\nrepl-diskless-sync-delay 0\n" + redisPeers(at, "tls-replication")
	if first := s.members[0].site; at != first {
		config += fmt.Sprintf("replicaof 127.0.0.1 %d\n", first.ports[0])
	}
	// Redis writes its configuration again when its role changes, and then everybody may read that file.
	if err := os.Chmod(at.dir, 0o700); err != nil {
		return nil, err
	}
	return redisCommandWith(at, config)
}

func (s *Sentinel) sentinelCommand(_ context.Context, at *site) (*command, error) {
	config := []string{
		"bind 127.0.0.1", "port " + strconv.Itoa(at.ports[0]), "dir " + at.dir, redisTLS(at), redisPeers(at, "tls-replication"),
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", sentinelName, s.members[0].site.ports[0]),
		"sentinel auth-pass " + sentinelName + " " + Password(),
		"sentinel down-after-milliseconds " + sentinelName + " 500",
		"sentinel failover-timeout " + sentinelName + " 3000",
		"sentinel parallel-syncs " + sentinelName + " 1",
	}
	if at.options.Auth {
		config = append(config, "requirepass "+Password(), "sentinel sentinel-pass "+Password())
	}
	if err := os.Chmod(at.dir, 0o700); err != nil { // a sentinel writes its configuration too
		return nil, err
	}
	file := filepath.Join(at.dir, "sentinel.conf")
	if err := once(file, strings.Join(config, "\n")+"\n"); err != nil {
		return nil, err
	}
	return &command{args: []string{file, "--sentinel"}, interrupt: syscall.SIGTERM}, nil
}

// sentinel sends a command to a sentinel.
func (s *Sentinel) sentinel(ctx context.Context, asked *Server, command string) (any, error) {
	return asked.at.redis(ctx, sentinelPassword(asked.site.options), "SENTINEL", command, sentinelName)
}

// primary asks all sentinels.
func (s *Sentinel) primary(ctx context.Context) (*Server, error) {
	addr, err := agreed(ctx, responsive(s.Sentinels()), func(ctx context.Context, asked *Server) (string, error) {
		reply, err := s.sentinel(ctx, asked, "GET-MASTER-ADDR-BY-NAME")
		if err != nil {
			return "", err
		}
		all, ok := reply.([]any)
		if !ok || len(all) != 2 {
			return "", fmt.Errorf("no address but %v", reply)
		}
		return net.JoinHostPort(fmt.Sprint(all[0]), fmt.Sprint(all[1])), nil
	})
	if err != nil {
		return nil, err
	}
	return at(s.Members(), addr)
}

// replicas asks one sentinel.
func (s *Sentinel) replicas(ctx context.Context, asked *Server) ([]*Server, error) {
	reply, err := s.sentinel(ctx, asked, "REPLICAS")
	if err != nil {
		return nil, err
	}
	all, _ := reply.([]any)
	var found []*Server
	for _, entry := range all {
		replica := fields(entry)
		if strings.Contains(replica["flags"], "down") || strings.Contains(replica["flags"], "disconnected") {
			continue
		}
		server, err := at(s.Members(), net.JoinHostPort(replica["ip"], replica["port"]))
		if err != nil {
			return nil, err
		}
		found = append(found, server)
	}
	return found, nil
}

// together: the sentinels agree on a primary that runs and knows it is one, and know each other and all replicas that run and
// that follow it.
func (s *Sentinel) together(ctx context.Context, awake []*Server) error {
	primary, err := s.primary(ctx)
	if err != nil {
		return err
	}
	members := responsive(s.Members())
	for _, m := range members {
		reply, err := m.at.redis(ctx, Password(), "INFO", "replication")
		if err != nil {
			return err
		}
		state := info(reply)
		follows := net.JoinHostPort(state["master_host"], state["master_port"])
		switch {
		case m == primary && state["role"] != "master":
			return fmt.Errorf("%s is to be the primary and isn't yet", m.Addr())
		case m != primary && (follows != primary.Addr() || state["master_link_status"] != "up"):
			return fmt.Errorf("%s doesn't follow the primary yet: %s %s", m.Addr(), follows, state["master_link_status"])
		}
	}
	if !slices.Contains(awake, primary) {
		return fmt.Errorf("the primary %s is away", primary.Addr())
	}
	for _, asked := range responsive(s.Sentinels()) {
		reply, err := s.sentinel(ctx, asked, "MASTER")
		if err != nil {
			return err
		}
		replicas, err := s.replicas(ctx, asked)
		if err != nil {
			return err
		}
		if peers := fields(reply)["num-other-sentinels"]; peers != strconv.Itoa(sentinels-1) || len(replicas) != len(members)-1 {
			return fmt.Errorf("sentinel %s knows %s others and %d replicas", asked.Addr(), peers, len(replicas))
		}
	}
	return nil
}
