package consul

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// EC49, EC50: the leader key is deleted by hand. Its holder learns it with the next renewal or release, the token grows, and the election stays closed for the lease's time.
func TestARemovedKey(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, q := client(t, srv.URL(), "prefix=ec49"), client(t, srv.URL(), "prefix=ec49")
	l := acquire(t, p, brief("e", "P"))
	removed := time.Now()
	if _, err := raw(t, srv).KV().Delete(names{"ec49"}.leader("e"), nil); err != nil {
		t.Fatal(err)
	}
	class(t, "release of a removed record", p.Release(deadline(t, ample), l, backend.Handover{}), backend.NotHeld)
	_, err := p.Renew(deadline(t, ample), l)
	class(t, "renewal of a removed record", err, backend.NotHeld)
	_, err = q.Acquire(deadline(t, ample), claim("e", "Q"))
	class(t, "acquire of a removed record", err, backend.Held)
	if kept, ok := errors.AsType[*backend.HeldError](err); ok && (kept.Record.Held() || kept.Record.Reserved.For <= 0 || kept.Record.Counter != l.Token) {
		t.Errorf("a removed record is told as %+v", kept.Record)
	}
	next := takeOver(t, q, claim("e", "Q"))
	if next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
	if passed := time.Since(removed); passed < l.TTL {
		t.Errorf("granted %v after the record was removed, within its TTL of %v", passed, l.TTL)
	}
	_, err = p.Acquire(deadline(t, ample), backend.Claim{Election: "e", Candidate: backend.Candidate{ID: "P"}, TTL: l.TTL, Attempt: l.Attempt})
	class(t, "a repeat of the removed claim", err, backend.Held)
}

// EC69: keys of others are neither read as records nor overwritten.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, operator := client(t, srv.URL(), "prefix=ec69"), raw(t, srv)
	n := names{"ec69"}
	for what, pair := range map[string]api.KVPair{
		"a text":            {Key: n.leader("text"), Value: []byte("hello")},
		"no value":          {Key: n.leader("empty")},
		"null":              {Key: n.leader("null"), Value: []byte("null")},
		"another lock":      {Key: n.leader("flags"), Value: []byte("{}"), Flags: api.LockFlagValue},
		"a number as beat":  {Key: n.beat("beat"), Value: []byte("5")},
		"a text as counter": {Key: n.counter("counter"), Value: []byte("hello")},
	} {
		if _, err := operator.KV().Put(&pair, nil); err != nil {
			t.Fatal(err)
		}
		election := last(pair.Key)
		_, err := s.Acquire(deadline(t, ample), claim(election, "P"))
		class(t, "acquire over "+what, err, backend.Invalid)
		_, err = s.Get(deadline(t, ample), election)
		class(t, "get over "+what, err, backend.Invalid)
		l := backend.Lease{Election: election, Holder: "P", Token: 1, Attempt: draw(), TTL: time.Minute}
		_, err = s.Renew(deadline(t, ample), l)
		class(t, "renewal over "+what, err, backend.NotHeld)
		class(t, "release over "+what, s.Release(deadline(t, ample), l, backend.Handover{}), backend.NotHeld)
		after, _, err := operator.KV().Get(pair.Key, nil)
		if err != nil || string(after.Value) != string(pair.Value) || after.Flags != pair.Flags {
			t.Errorf("%s was overwritten: %+v, %v", what, after, err)
		}
	}
}
