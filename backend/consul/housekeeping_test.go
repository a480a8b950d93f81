package consul

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// Pages come in the order of the names, which is not that of their keys. What is no election's key is left out.
func TestElectionsInTheirOrder(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, operator, n := client(t, srv.URL(), "prefix=listing"), raw(t, srv), names{"listing"}
	want := []string{"a", "a-", "a/b", "a b", "a~", "A", "%41", "é", "~", "floor", "-", "/", "\x00", "counter", "..", "z/leader"}
	slices.Sort(want)
	for i, name := range want {
		switch i % 3 {
		case 0:
			release(t, s, acquire(t, s, claim(name, "P")))
		case 1:
			if err := s.(backend.TokenRaiser).Raise(deadline(t, ample), name, 5); err != nil { // makes a counter alone
				t.Fatal(err)
			}
		case 2:
			acquire(t, s, claim(name, "P"))
			remove(t, operator, n.counter(name))
		}
	}
	for _, key := range []string{"listing/leader/", "listing/leader/a%2f", "listing/leader/a b", "listing/other/x", "listing/x", "listing2/leader/x"} {
		if _, err := operator.KV().Put(&api.KVPair{Key: key, Value: []byte("1")}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int{1, 5, len(want), len(want) + 1} {
		var got []string
		for after := ""; ; after = got[len(got)-1] {
			page := elections(t, s, after, limit)
			got = append(got, page...)
			if len(page) < limit {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %q, want %q", limit, got, want)
		}
	}
}

// A claim that saw an election without a record arrives after it was granted, released and forgotten: it is refused. So is a raise.
func TestLateClaimOfAForgottenElection(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, other := client(t, srv.URL(), "prefix=late"), client(t, srv.URL(), "prefix=late")
	in, late := inner(t, other), claim("e", "late")
	v := must[*view](t)(in.look(deadline(t, ample), "e"))
	token, _, err := v.judge(late)
	if err != nil {
		t.Fatal(err)
	}
	raise := append(v.grounded(in.names), swap(in.names.counter("e"), v.counterIndex, counter{Highest: 1}))
	l := acquire(t, s, claim("e", "a"))
	release(t, s, l)
	forget(t, s, "e")
	if l, err := in.grant(deadline(t, ample), v, late, token); err == nil || !changed(err) {
		t.Errorf("a late claim of a forgotten election was granted token %d: %v", l.Token, err)
	}
	if _, err := in.apply(deadline(t, ample), raise...); err == nil || !changed(err) {
		t.Errorf("a late raise of a forgotten election was applied: %v", err)
	}
	if r := get(t, s, "e"); r != (backend.Record{Election: "e"}) {
		t.Errorf("the record of a forgotten election is %+v", r)
	}
	if next := acquire(t, other, late); next.Token <= l.Token {
		t.Errorf("token %d after %d, which was forgotten", next.Token, l.Token)
	}
}

// A call to forget comes late, when the election has another term: it is refused, also when its holder has only beaten since. So are those of held and reserved elections, and of old records.
func TestLateForget(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, operator := client(t, srv.URL(), "prefix=forget"), raw(t, srv)
	in, l := inner(t, s), acquire(t, s, claim("e", "a"))
	release(t, s, l)
	r, v := get(t, s, "e"), must[*view](t)(in.look(deadline(t, ample), "e"))
	late := func(what string) {
		t.Helper()
		if err := in.remove(deadline(t, ample), v); err == nil || !changed(err) {
			t.Errorf("a late forget of %s: %v", what, err)
		}
	}
	l = acquire(t, s, claim("e", "b"))
	late("a held election")
	class(t, "forget of a held election", s.(backend.Forgetter).Forget(deadline(t, ample), r), backend.Held)
	v = must[*view](t)(in.look(deadline(t, ample), "e"))
	l = renew(t, s, l)
	late("one whose holder has beaten")
	v = must[*view](t)(in.look(deadline(t, ample), "e"))
	if err := s.(backend.TokenRaiser).Raise(deadline(t, ample), "e", 50); err != nil {
		t.Fatal(err)
	}
	late("one whose counter was raised")
	if err := s.Release(deadline(t, ample), l, backend.Handover{To: "c", For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	err := s.(backend.Forgetter).Forget(deadline(t, ample), r)
	if held, ok := errors.AsType[*backend.HeldError](err); !ok || held.Record.Reserved.To != "c" {
		t.Errorf("forget of a reserved election: %v", err)
	}
	release(t, s, acquire(t, s, claim("e", "c")))
	class(t, "forget by an old record", s.(backend.Forgetter).Forget(deadline(t, ample), r), backend.Outdated)
	r = get(t, s, "e")
	forget(t, s, "e")
	if err := s.(backend.Forgetter).Forget(deadline(t, ample), r); err != nil {
		t.Errorf("forget of a forgotten election: %v", err)
	}
	acquire(t, s, brief("e", "a"))
	remove(t, operator, in.names.leader("e")) // its holder may believe in it
	class(t, "forget of an election whose leader key somebody has removed", s.(backend.Forgetter).Forget(deadline(t, ample), get(t, s, "e")), backend.Held)
}

// A term of an election that is forgotten stays over, in a batch too: renewals and releases of it and what was bound to it are refused, a raise and grants stay above its token.
func TestForgottenTerm(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, other, operator := client(t, srv.URL(), "prefix=term"), client(t, srv.URL(), "prefix=term"), raw(t, srv)
	c := claim("e", "a")
	c.Floor = 1000
	l := acquire(t, s, c)
	fence := must[api.KVTxnOps](t)(inner(t, s).Fence(deadline(t, ample), "e", l.Fence()))
	release(t, s, l)
	forget(t, s, "e")
	again := func(when string) {
		t.Helper()
		_, err := s.Renew(deadline(t, ample), l)
		class(t, "renewal "+when, err, backend.NotHeld)
		class(t, "renewal in a batch "+when, backend.RenewAll(deadline(t, ample), s, []backend.Lease{l})[0].Err, backend.NotHeld)
		class(t, "release "+when, s.Release(deadline(t, ample), l, backend.Handover{}), backend.NotHeld)
		if write(t, operator, fence, "late") {
			t.Errorf("a write that was bound to the term was applied %s", when)
		}
	}
	again("of a forgotten term")
	if err := other.(backend.TokenRaiser).Raise(deadline(t, ample), "e", 5); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, "e"); r.Counter < l.Token {
		t.Errorf("the counter is %d after it was raised; token %d was granted once", r.Counter, l.Token)
	}
	c = claim("e", "a")
	c.Attempt = l.Attempt // as nobody does
	if next := acquire(t, other, c); next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
	again("while there is another term")
	if first := acquire(t, other, claim("another", "a")); first.Token <= l.Token { // the floor is one for all
		t.Errorf("the first token of another election is %d, below the floor of %d", first.Token, l.Token)
	}
}

// A dead holder's lease that this store has seen silent for its TTL doesn't keep an election from being forgotten; one that it sees for the first time does.
func TestForgetAfterSilence(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, other := client(t, srv.URL(), "prefix=silent"), client(t, srv.URL(), "prefix=silent")
	l := acquire(t, s, brief("e", "a"))
	class(t, "forget at first sight", other.(backend.Forgetter).Forget(deadline(t, ample), get(t, other, "e")), backend.Held)
	eventually(t, "the election is free", func() bool { return !get(t, other, "e").Held() })
	forget(t, other, "e")
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renewal by a holder that was silent", err, backend.NotHeld)
	if next := acquire(t, s, claim("e", "b")); next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
}
