package etcd

import (
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t, testenv.Options{Own: true})
	contract := suite(t, srv.URL(), raw(t, srv))
	contract.Target, contract.Requests = "etcd", func(t conformance.T) int64 { return srv.Requests(t) }
	contract.Server = srv.Addr()
	contract.Through = func(t conformance.T, addr string) backend.LeaseStore { return opened(t, "etcd://"+addr) }
	contract.Faults.Restart = func(conformance.T) { srv.Kill(); srv.Start() }
	conformance.Run(t, contract)
}

// suite plays the contract on a server, with an operator's client beside it.
func suite(t *testing.T, rawURL string, operator *clientv3.Client) conformance.Suite {
	t.Helper()
	keys := newNames(defaultPrefix)
	return conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore { return opened(t, rawURL) },
		Plant: func(t conformance.T, election, moved string, version int) {
			e := entry{Version: version, MovedTo: moved}
			if _, err := operator.Put(t.Context(), keys.counter(election), e.encode()); err != nil {
				t.Fatalf("plant: %v", err)
			}
		},
		Remove: func(t conformance.T, election string) {
			if _, err := operator.Delete(t.Context(), keys.base(election), clientv3.WithPrefix()); err != nil {
				t.Fatalf("remove: %v", err)
			}
		},
	}
}

func opened(t conformance.T, rawURL string) backend.LeaseStore {
	s, err := backend.Open(t.Context(), rawURL)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

// On three members, which are restarted together, and lose their leader.
func TestConformanceOnThreeMembers(t *testing.T) {
	t.Parallel()
	c := testenv.EtcdCluster(t, 3)
	contract := suite(t, c.URL(), root(t, c.Members()[0]))
	contract.Target = "etcd ×3"
	contract.Faults.Restart = func(conformance.T) {
		for _, m := range c.Members() {
			m.Kill()
		}
		var all sync.WaitGroup
		for _, m := range c.Members() {
			all.Go(m.Start)
		}
		all.Wait()
		c.Settle()
	}
	contract.Faults.Failover = func(conformance.T) {
		leader := c.Members()[c.Leader()]
		leader.Kill()
		c.Settle()
		leader.Start()
		c.Settle()
	}
	conformance.Run(t, contract)
}
