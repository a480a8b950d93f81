package consul

import (
	"fmt"
	"testing"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// lift writes until the last index of the servers is the one wanted, and reports whether it could be met.
func lift(t *testing.T, c *api.Client, want uint64) bool {
	t.Helper()
	for i := 0; ; i++ {
		if _, err := c.KV().Put(&api.KVPair{Key: "filler", Value: fmt.Append(nil, i)}, nil); err != nil {
			t.Fatal(err)
		}
		pair, _, err := c.KV().Get("filler", nil)
		if err != nil {
			t.Fatal(err)
		}
		if pair.ModifyIndex >= want {
			return pair.ModifyIndex == want
		}
	}
}

// S4, DX8: the servers begin anew without their data, and another's grant happens to get the very index of the former leader's: the former leader is told that it lost, a write behind its fence is
// refused, and the other's lease goes on.
func TestAnIndexThatComesAgain(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Own: true})
	operator := raw(t, srv)
	p := client(t, srv.URL(), "")
	lift(t, operator, 300)
	old := acquire(t, p, claim("e", "P"))
	fence := must[api.KVTxnOps](t)(inner(t, p).Fence(deadline(t, ample), "e", old.Fence()))
	index := grasp(old).leaderIndex
	var q backend.LeaseStore
	var l backend.Lease
	eventually(t, "the same index", func() bool { // the servers write on their own now and then
		srv.Restart()
		q = client(t, srv.URL(), "")
		acquire(t, q, claim("other", "Q")) // there is a session
		if !lift(t, operator, index-1) {
			return false
		}
		l = acquire(t, q, claim("e", "Q"))
		return grasp(l).leaderIndex == index
	})
	_, err := p.Renew(deadline(t, ample), old)
	class(t, "renewal of a lease from before", err, backend.NotHeld)
	class(t, "renewal of a lease from before, in a batch", backend.RenewAll(deadline(t, ample), p, []backend.Lease{old})[0].Err, backend.NotHeld)
	class(t, "release of a lease from before", p.Release(deadline(t, ample), old, backend.Handover{}), backend.NotHeld)
	if write(t, operator, fence, "late") {
		t.Error("a write behind a fence from before was applied")
	}
	l = renew(t, q, l)
	if r := get(t, q, "e"); r.Holder.ID != "Q" || r.Attempt != l.Attempt {
		t.Errorf("the record is %+v, want Q's", r)
	}
}
