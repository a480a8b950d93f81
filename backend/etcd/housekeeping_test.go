package etcd

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// Pages come in the order of the names, which is not that of their keys, also where a page takes several requests. What is no election's key is left out.
func TestElectionsInTheirOrder(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	s, operator, n := client(t, srv.URL(), "prefix=order"), raw(t, srv), newNames("order")
	want := []string{"a", "a-", "a/b", "a b", "a~", "A", "%41", "é", "~", "~floor", "-", "/", "\x00", "counter", "z/leader"}
	for i := range keysAtATime {
		want = append(want, fmt.Sprintf("many/%04d", i))
	}
	slices.Sort(want)
	for part := range slices.Chunk(want, 60) {
		var puts []clientv3.Op
		for _, name := range part {
			puts = append(puts, clientv3.OpPut(n.counter(name), entry{Version: 1, Counter: 1}.encode()), clientv3.OpPut(n.leader(name), "1.x"))
		}
		must[*clientv3.TxnResponse](t)(operator.Txn(deadline(t, ample)).Then(puts...).Commit())
	}
	for _, key := range []string{"order/", "order/x", "order/a%2f/counter", "order/a b/counter", "order/a/b/counter", "order//counter", "order/reserved-only/reserved", "order/~floor", "order2/x/counter", "orde/x/counter"} {
		must[*clientv3.PutResponse](t)(operator.Put(deadline(t, ample), key, "1"))
	}
	for _, limit := range []int{700, len(want), len(want) + 1} {
		var got []string
		for after := ""; ; after = got[len(got)-1] {
			page := elections(t, s, after, limit)
			got = append(got, page...)
			if len(page) < limit {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %d names, want %d in another order", limit, len(got), len(want))
		}
	}
}

// A claim that saw an election without a record arrives after it was granted, released and forgotten: it is refused, by every store, and what it would have been granted is not.
func TestLateClaimOfAForgottenElection(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	s, other := client(t, srv.URL(), ""), client(t, srv.URL(), "")
	late, in := claim("late", "late"), inner(t, other)
	v := must[view](t)(in.read(deadline(t, ample), "late"))
	a := &acquisition{s: in, claim: late, ttl: 60}
	e := must[entry](t)(a.entry(v))
	carrier := must[*carrier](t)(in.fresh(deadline(t, ample), 60))
	l := acquire(t, s, claim("late", "a"))
	release(t, s, l)
	forget(t, s, "late")
	if rev, err := in.put(deadline(t, ample), v, e, carrier); rev != 0 || err != nil {
		t.Errorf("a late claim of a forgotten election was granted token %d after %d: %v", e.Token, l.Token, err)
	}
	if r := get(t, s, "late"); r != (backend.Record{Election: "late", Mode: backend.Native}) {
		t.Errorf("the record of a forgotten election is %+v", r)
	}
	if next := acquire(t, other, late); next.Token <= l.Token {
		t.Errorf("token %d after %d, which was forgotten", next.Token, l.Token)
	}
}

// Two calls to forget see the same record, and one comes late, when the election has another term: it is refused. So is one that saw a free election, and one with an old record.
func TestLateForget(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	s := client(t, srv.URL(), "")
	in, l := inner(t, s), acquire(t, s, claim("forget", "a"))
	release(t, s, l)
	v := must[view](t)(in.read(deadline(t, ample), "forget"))
	r := get(t, s, "forget")
	l = acquire(t, s, claim("forget", "b"))
	if done, err := in.remove(deadline(t, ample), v); done || err != nil {
		t.Errorf("a held election was forgotten: %v", err)
	}
	class(t, "forget of a held election", s.(backend.Forgetter).Forget(deadline(t, ample), r), backend.Held)
	renew(t, s, l)
	release(t, s, l)
	if done, err := in.remove(deadline(t, ample), v); done || err != nil {
		t.Errorf("an election that has had another term was forgotten: %v", err)
	}
	l = acquire(t, s, claim("forget", "b"))
	if err := s.Release(deadline(t, ample), l, backend.Handover{To: "c", For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	err := s.(backend.Forgetter).Forget(deadline(t, ample), r)
	if held, ok := errors.AsType[*backend.HeldError](err); !ok || held.Record.Reserved.To != "c" {
		t.Errorf("forget of a reserved election: %v", err)
	}
	release(t, s, acquire(t, s, claim("forget", "c")))
	class(t, "forget by an old record", s.(backend.Forgetter).Forget(deadline(t, ample), r), backend.Outdated)
	forget(t, s, "forget")
	if err := s.(backend.Forgetter).Forget(deadline(t, ample), r); err != nil {
		t.Errorf("forget of a forgotten election: %v", err)
	}
}

// A term of an election that is forgotten stays over: renewals and releases of it, a raise, and what was bound to it are refused or stay below later tokens.
func TestForgottenTerm(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	s, other, operator := client(t, srv.URL(), ""), client(t, srv.URL(), ""), raw(t, srv)
	c := claim("term", "a")
	c.Floor = 1000
	l := acquire(t, s, c)
	fence := inner(t, s).Compare("term", l.Fence())
	release(t, s, l)
	forget(t, s, "term")
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renewal of a forgotten term", err, backend.NotHeld)
	class(t, "release of a forgotten term", s.Release(deadline(t, ample), l, backend.Handover{}), backend.NotHeld)
	if err := other.(backend.TokenRaiser).Raise(deadline(t, ample), "term", 5); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, "term"); r.Counter < l.Token {
		t.Errorf("the counter is %d after it was raised; token %d was granted once", r.Counter, l.Token)
	}
	c = claim("term", "a")
	c.Attempt = l.Attempt // as nobody does
	if next := acquire(t, other, c); next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
	if must[*clientv3.TxnResponse](t)(operator.Txn(deadline(t, ample)).If(fence...).Then(clientv3.OpPut("report", "late")).Commit()).Succeeded {
		t.Error("a write that was bound to a forgotten term was applied")
	}
	if first := acquire(t, other, claim("another", "a")); first.Token <= l.Token { // the floor is one for all
		t.Errorf("the first token of another election is %d, below the floor of %d", first.Token, l.Token)
	}
}

// A claim for an election without a record takes no request more than others, as long as nothing is forgotten.
func TestFloorTakesNoRequest(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t, testenv.Options{Own: true})
	s, requests := counted(t, srv, nil)
	warm(t, s)
	release(t, s, acquire(t, s, claim("first", "a")))
	requests.take()
	release(t, s, acquire(t, s, claim("first", "b")))
	usual := requests.take()
	release(t, s, acquire(t, s, claim("second", "a")))
	if n := requests.take(); n["Txn"] != usual["Txn"] || n["Range"] != usual["Range"] {
		t.Errorf("a first grant and its release take %v, later ones %v", n, usual)
	}
}
