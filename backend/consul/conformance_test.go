package consul

import (
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// suite is the conformance suite on stores that open makes, with the hooks of an operator.
func suite(operator *api.Client, prefix string, open func(conformance.T) (backend.LeaseStore, error)) conformance.Suite {
	n := names{prefix}
	return conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := open(t)
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		},
		Plant: func(t conformance.T, election, moved string, version int) {
			value := encode(leader{Version: version, MovedTo: moved})
			if _, err := operator.KV().Put(&api.KVPair{Key: n.leader(election), Value: value}, nil); err != nil {
				t.Fatalf("plant: %v", err)
			}
		},
		Remove: func(t conformance.T, election string) {
			if _, err := operator.KV().Delete(n.leader(election), nil); err != nil {
				t.Fatalf("remove: %v", err)
			}
		},
	}
}

// throughSuite is the suite's way to put a proxy before a server.
func throughSuite(s conformance.Suite, srv *testenv.Server) conformance.Suite {
	s.Server = srv.Addr()
	s.Through = func(t conformance.T, addr string) backend.LeaseStore {
		store, err := backend.Open(t.Context(), strings.Replace(srv.URL(), srv.Addr(), addr, 1))
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		return store
	}
	return s
}

// On a server with its default settings: sessions of 10 s at least, and leases of a second all the same (EC47).
func TestConformance(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s := suite(raw(t, srv), defaultPrefix, func(t conformance.T) (backend.LeaseStore, error) { return backend.Open(t.Context(), srv.URL()) })
	s.Target, s.Requests = "Consul", func(t conformance.T) int64 { return srv.Requests(t) }
	conformance.Run(t, throughSuite(s, srv))
}

// On three servers, which are restarted, and lose their leader. The network of their clients is not in the way here.
func TestConformanceOnThreeServers(t *testing.T) {
	c := servers(t, 3)
	s := suite(raw(t, c.Members()[0]), defaultPrefix, func(t conformance.T) (backend.LeaseStore, error) { return backend.Open(t.Context(), c.URL()) })
	s.Target = "Consul ×3"
	var one sync.Mutex // cases that wait run at once: a fault is done to all of them, but one at a time
	s.Faults.Failover = func(conformance.T) {
		one.Lock()
		defer one.Unlock()
		if leader := c.Leader(); leader >= 0 {
			c.Members()[leader].Kill()
			eventually(t, "the others agree on a leader", func() bool { return c.Leader() >= 0 })
			c.Members()[leader].Start()
		}
		c.Settle()
	}
	s.Faults.Restart = func(conformance.T) {
		one.Lock()
		defer one.Unlock()
		for _, m := range c.Members() {
			m.Kill()
		}
		for _, m := range c.Members() {
			m.Start()
		}
		c.Settle()
	}
	conformance.Run(t, s)
}
