package consul

import (
	"testing"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	userfence "github.com/tenure-go/tenure/fence"
)

// write is a user's own transaction behind a fence.
func write(t *testing.T, c *api.Client, fence api.KVTxnOps, value string) bool {
	t.Helper()
	ops := append(fence, &api.KVTxnOp{Verb: api.KVSet, Key: "data/" + t.Name(), Value: []byte(value)})
	ok, _, _, err := c.KV().Txn(ops, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// DX8, EC61: a write that was prepared under an earlier term is refused, after a release, after another's term, and in a later term of the same candidate and session. Renewals, a raised
// counter and a restarted candidate of the same term don't disturb it.
func TestFence(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, q, c := client(t, srv.URL(), "prefix=fence"), client(t, srv.URL(), "prefix=fence"), raw(t, srv)
	fence := func(s backend.LeaseStore, l backend.Lease) api.KVTxnOps {
		t.Helper()
		return must[api.KVTxnOps](t)(inner(t, s).Fence(deadline(t, ample), l.Election, l.Fence()))
	}
	l := acquire(t, p, claim("e", "P"))
	first := fence(p, l)
	if !write(t, c, first, "1") {
		t.Error("the leader's write was refused")
	}
	l = renew(t, p, l)
	raiser, _ := backend.As[backend.TokenRaiser](p)
	if err := raiser.Raise(deadline(t, ample), "e", l.Token+100); err != nil {
		t.Error(err)
	}
	l = renew(t, p, l)
	if !write(t, c, first, "2") {
		t.Error("the leader's write was refused after renewals and a raise")
	}
	release(t, p, l)
	refused := func(when string) {
		t.Helper()
		if write(t, c, first, "late") {
			t.Errorf("a write of the first term was applied %s", when)
		}
	}
	refused("after its release")
	other := acquire(t, q, claim("e", "Q"))
	if other.Token <= l.Token+100 {
		t.Errorf("token %d after the counter was raised to %d", other.Token, l.Token+100)
	}
	refused("in another's term")
	if !write(t, c, fence(q, other), "3") {
		t.Error("the second leader's write was refused")
	}
	release(t, q, other)
	third := acquire(t, p, claim("e", "P"))
	refused("in a later term of the same candidate and session")
	_, err := inner(t, p).Fence(deadline(t, ample), "e", l.Fence())
	class(t, "a fence for a term that is over", err, backend.NotHeld)
	for _, token := range []userfence.Token{{Value: third.Token - 1, Attempt: third.Attempt}, {Value: third.Token, Attempt: l.Attempt}} {
		_, err = inner(t, p).Fence(deadline(t, ample), "e", token)
		class(t, "a fence for no term", err, backend.NotHeld)
	}
	ops := fence(p, third)
	id, _ := inner(t, p).session.current()
	if _, err := c.Session().Destroy(id, nil); err != nil {
		t.Fatal(err)
	}
	if write(t, c, ops, "lost") {
		t.Error("a write was applied although the session was lost")
	}
	third = renew(t, p, third)
	if !write(t, c, fence(p, third), "4") {
		t.Error("the leader's write was refused after the lease was bound to a new session")
	}
}
