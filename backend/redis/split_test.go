package redis

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// R8: a promoted replica has no scripts. The first heartbeat that reaches it renews within the same call, batches too.
func TestPromotedReplicaHasNoScripts(t *testing.T) {
	srv := testenv.Redis(t, fast)
	replica := replicaOf(t, srv)
	before := client(t, srv.URL(), "wait=1")
	all := leases(t, before, 2)
	if err := raw(t, replica.URL()).ReplicaOf(deadline(t, ample), "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	after := client(t, replica.URL(), "")
	renew(t, after, all[0])
	raw(t, replica.URL()).ScriptFlush(deadline(t, ample))
	for _, r := range backend.RenewAll(deadline(t, ample), after, all) {
		class(t, "renewal on the promoted replica", r.Err, backend.OK)
	}
}

// R49: a replica was promoted while the old primary lives on. Both have a leader; their tokens differ, and a guard that has seen the greater refuses the lower.
func TestTwoPrimariesTwoLeadersOneWriter(t *testing.T) {
	srv := testenv.Redis(t, fast)
	replica := replicaOf(t, srv)
	old, promoted := client(t, srv.URL(), "wait=1"), client(t, replica.URL(), "")
	c := claim("e", "a")
	c.TTL = 3 * time.Second
	l := acquire(t, old, c)
	if err := raw(t, replica.URL()).ReplicaOf(deadline(t, ample), "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	without := client(t, srv.URL(), "")
	var next backend.Lease
	eventually(t, "the promoted primary grants what the old one still renews", func() bool {
		renew(t, without, l)
		var err error
		next, err = promoted.Acquire(deadline(t, ample), claim("e", "b"))
		return err == nil
	})
	renew(t, without, l)
	if a, b := get(t, without, "e"), get(t, promoted, "e"); a.Holder.ID != "a" || b.Holder.ID != "b" {
		t.Errorf("there are not two leaders: %v; %v", a, b)
	}
	if next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
	guarded(t, l, next)

	// With wait the old primary, which has no replica any more, renews nothing: its leader steps down.
	_, err := old.Renew(deadline(t, soon), l)
	if err == nil {
		t.Error("the old primary still renews though nobody acknowledges")
	}
	_, err = old.Acquire(deadline(t, soon), claim("other", "a"))
	class(t, "acquire on the old primary", err, backend.Unknown)
}
