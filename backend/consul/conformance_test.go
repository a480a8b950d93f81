package consul

import (
	"testing"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
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

// On a server with its default settings: sessions of 10 s at least, and leases of a second all the same (EC47).
func TestConformance(t *testing.T) {
	t.Parallel()
	srv := start(t)
	conformance.Run(t, suite(raw(t, srv), defaultPrefix, func(t conformance.T) (backend.LeaseStore, error) { return backend.Open(t.Context(), srv.URL()) }))
}
