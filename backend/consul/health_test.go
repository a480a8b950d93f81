package consul

import (
	"testing"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// EC70, EC51, PE25: what Consul thinks of the node's health decides nothing, neither for who leads nor for who wants to. Who leads by health asks its own.
func TestACriticalNodeEndsNothing(t *testing.T) {
	t.Parallel()
	srv := start(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "prefix=health")
	l := acquire(t, s, claim("e", "P"))
	before := must[*view](t)(inner(t, s).look(t.Context(), "e")).session
	self := must[map[string]map[string]any](t)(operator.Agent().Self())
	node, _ := self["Config"]["NodeName"].(string)
	if _, err := operator.Catalog().Register(&api.CatalogRegistration{
		Node: node, Address: "127.0.0.1", SkipNodeUpdate: true,
		Check: &api.AgentCheck{Node: node, CheckID: "serfHealth", Name: "Serf Health Status", Status: api.HealthCritical},
	}, nil); err != nil {
		t.Fatal(err)
	}
	if after := must[*view](t)(inner(t, s).look(t.Context(), "e")).session; after != before || before == "" {
		t.Errorf("the lease was bound to session %q, and is to %q", before, after)
	}
	_, err := s.Acquire(deadline(t, ample), claim("e", "Q"))
	class(t, "acquire while the holder's node is critical", err, backend.Held)
	release(t, s, renew(t, s, l))
	acquire(t, s, claim("e", "Q"))
}
