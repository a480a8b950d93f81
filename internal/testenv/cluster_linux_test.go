package testenv

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// eventually polls until there is no error.
func eventually(t *testing.T, what string, ask func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := poll(ctx, nil, ask); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// hosts fails the test unless the URL names these servers and the password.
func hosts(t *testing.T, raw, scheme string, servers []*Server) {
	t.Helper()
	rest, ok := strings.CutPrefix(raw, scheme+"://")
	if !ok || !strings.Contains(raw, Password()) {
		t.Errorf("URL %s", raw)
	}
	var want []string
	for _, s := range servers {
		want = append(want, s.Addr())
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest[strings.LastIndex(rest, "@")+1:], "/")
	if rest != strings.Join(want, ",") {
		t.Errorf("hosts %s, want %v", rest, want)
	}
}

// survivesItsLeader kills, and then freezes, whoever leads. An operation must work each time with another leader.
func survivesItsLeader(t *testing.T, c *Cluster, operate func(ctx context.Context, s *Server) error) {
	t.Helper()
	for _, fault := range []struct {
		name       string
		away, back func(*Server)
	}{
		{"Kill", (*Server).Kill, (*Server).Start},
		{"Freeze", (*Server).Freeze, (*Server).Thaw},
	} {
		old := c.Leader()
		if old < 0 {
			t.Fatal("nobody leads")
		}
		fault.away(c.Members()[old])
		c.Settle()
		led := c.Leader()
		if led == old || led < 0 {
			t.Fatalf("%s: %d led and %d leads", fault.name, old, led)
		}
		for i, s := range c.Members() {
			if i != old {
				if err := operate(t.Context(), s); err != nil {
					t.Errorf("%s: member %d: %v", fault.name, i, err)
				}
			}
		}
		fault.back(c.Members()[old])
		c.Settle()
		if err := operate(t.Context(), c.Members()[old]); err != nil {
			t.Errorf("after %s: %v", fault.name, err)
		}
	}
}

func TestEtcdCluster(t *testing.T) {
	t.Parallel()
	c := EtcdCluster(t, 3)
	hosts(t, c.URL(), "etcd", c.Members())
	survivesItsLeader(t, c, func(ctx context.Context, s *Server) error {
		if _, err := s.at.post(ctx, "/v3/kv/range", map[string]string{"key": "aw=="}, nil); err == nil {
			return fmt.Errorf("%s answers a stranger", s.Addr())
		}
		token, err := etcdToken(ctx, s.at, Password())
		if err != nil {
			return err
		}
		_, err = s.at.post(ctx, "/v3/kv/put", map[string]string{"key": "aw==", "value": "dg=="}, token)
		return err
	})
	for _, s := range c.Members()[:2] {
		s.Kill()
	}
	if led := c.Leader(); led != -1 {
		t.Errorf("%d leads a minority", led)
	}
	for _, s := range c.Members()[:2] {
		s.Start()
	}
	c.Settle()
}

func TestConsulCluster(t *testing.T) {
	t.Parallel()
	c := ConsulCluster(t, 3)
	hosts(t, c.URL(), "consul", c.Members())
	put := func(ctx context.Context, s *Server, path, body string) error {
		_, err := s.at.do(ctx, request{method: http.MethodPut, path: path, body: body, header: consulToken()})
		return err
	}
	survivesItsLeader(t, c, func(ctx context.Context, s *Server) error {
		if err := s.at.answers(ctx, "/v1/kv/k", ""); err == nil {
			return fmt.Errorf("%s answers a stranger", s.Addr())
		}
		return put(ctx, s, "/v1/kv/k", "v")
	})
	if err := put(t.Context(), c.Members()[0], "/v1/session/create", `{"TTL":"5s"}`); err == nil || !strings.Contains(err.Error(), "Invalid Session TTL") {
		t.Errorf("a TTL below the default least one: %v", err)
	}
	for _, s := range c.Members() {
		s.Kill()
	}
	for _, s := range c.Members() {
		s.Start()
	}
	c.Settle()
	if b, err := c.Members()[0].at.do(t.Context(), request{method: http.MethodGet, path: "/v1/kv/k?raw", header: consulToken()}); err != nil || string(b) != "v" {
		t.Errorf("after all were killed: %q, %v", b, err)
	}
}

func TestRedisCluster(t *testing.T) {
	t.Parallel()
	c := RedisCluster(t)
	hosts(t, c.URL(), "redis+cluster", c.Members())
	if led := c.Leader(); led != -1 {
		t.Errorf("%d leads", led)
	}
	for _, key := range []string{"a", "b", "c"} {
		var served int
		for _, s := range c.Members() {
			_, err := s.at.redis(t.Context(), Password(), "SET", key, "v")
			if err == nil {
				served++
			} else if !strings.Contains(err.Error(), "MOVED") {
				t.Errorf("%s: %v", key, err)
			}
		}
		if served != 1 {
			t.Errorf("%d members serve %s", served, key)
		}
	}
	c.Members()[1].Kill()
	eventually(t, "the others notice", func(ctx context.Context) error {
		reply, err := c.Members()[0].at.redis(ctx, Password(), "CLUSTER", "INFO")
		if err == nil && info(reply)["cluster_state"] != "fail" {
			err = fmt.Errorf("%v", reply)
		}
		return err
	})
	c.Members()[1].Start()
	c.Settle()
}

func TestRedisSentinel(t *testing.T) {
	t.Parallel()
	s := RedisSentinel(t)
	hosts(t, s.URL(), "redis+sentinel", s.Sentinels())
	if u, err := url.Parse(s.Sentinels()[0].URL()); err != nil || u.Path != "/mymaster" {
		t.Errorf("URL %s, %v", s.URL(), err)
	}
	if s.Primary() != s.Members()[0] || len(s.Replicas()) != 2 {
		t.Fatalf("primary %v, replicas %v", s.Primary(), s.Replicas())
	}
	for _, fault := range []struct {
		name       string
		away, back func(*Server)
	}{
		{"Kill", (*Server).Kill, (*Server).Start},
		{"Freeze", (*Server).Freeze, (*Server).Thaw},
	} {
		old := s.Primary()
		if _, err := old.at.redis(t.Context(), Password(), "SET", "k", fault.name); err != nil {
			t.Fatal(err)
		}
		if _, err := old.at.redis(t.Context(), Password(), "WAIT", "2", "0"); err != nil {
			t.Fatal(err)
		}
		fault.away(old)
		s.Settle()
		primary := s.Primary()
		if primary == old || primary == nil {
			t.Fatalf("%s: no failover", fault.name)
		}
		if got, err := primary.at.redis(t.Context(), Password(), "GET", "k"); err != nil || got != fault.name {
			t.Errorf("%s: the new primary has %v, %v", fault.name, got, err)
		}
		fault.back(old)
		s.Settle()
		if replicas := s.Replicas(); s.Primary() != primary || !slices.Contains(replicas, old) {
			t.Errorf("after %s the old primary isn't a replica", fault.name)
		}
	}
	s.Sentinels()[0].Kill()
	s.Settle()
	s.Sentinels()[0].Start()
	s.Settle()
}

func TestClustersWithTLSAndPasswords(t *testing.T) {
	t.Parallel()
	a := NewAuthority(t)
	pair := a.Server()
	o := Options{TLS: &pair, Auth: true}
	for scheme, open := range map[string]func() string{
		"etcds":                func() string { return EtcdCluster(t, 1, o).URL() },
		"consuls":              func() string { return ConsulCluster(t, 1, o).URL() },
		"redis+cluster tls":    func() string { return RedisCluster(t, o).URL() },
		"redis+sentinel tls":   func() string { return RedisSentinel(t, o).URL() },
		"redis+sentinel +auth": func() string { return RedisSentinel(t, Options{Auth: true}).URL() },
	} {
		u := open()
		scheme, param, _ := strings.Cut(scheme, " ")
		if !strings.HasPrefix(u, scheme+"://") || strings.Contains(u, "tls=1") != (param == "tls") {
			t.Errorf("%s: %s", scheme, u)
		}
		if strings.Contains(u, "sentinelauth=1") != (scheme == "redis+sentinel") {
			t.Errorf("%s: %s", scheme, u)
		}
	}
}
