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

// remove deletes keys by hand.
func remove(t *testing.T, c *api.Client, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, err := c.KV().Delete(key, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// The beat key is deleted by hand: the holder's next renewal writes all that it says, so that the lease keeps the TTL that was renewed, and its attempt is known when the leader key goes too.
func TestARemovedBeat(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, q, operator := client(t, srv.URL(), "prefix=beatless"), client(t, srv.URL(), "prefix=beatless"), raw(t, srv)
	n := names{"beatless"}
	c := brief("e", "P")
	l := acquire(t, p, c)
	remove(t, operator, n.beat("e"))
	l.TTL = time.Minute
	l = renew(t, p, l)
	if r := get(t, q, "e"); r.TTL != time.Minute || r.Remaining <= brief("e", "Q").TTL {
		t.Errorf("a lease of 1 min after its beat key was removed: %+v", r)
	}
	renew(t, p, l)
	remove(t, operator, n.leader("e"))
	c.TTL = time.Minute
	_, err := p.Acquire(deadline(t, ample), c)
	class(t, "a repeat of a claim whose lease was removed", err, backend.NotHeld)
}

// DX3: a challenger has seen a lease without a beat, which somebody has removed, for its whole TTL. That says nothing of a later lease without one.
func TestSilenceOfALeaseWithoutABeat(t *testing.T) {
	t.Parallel()
	srv := start(t)
	operator, n := raw(t, srv), names{"mute"}
	for what, keys := range map[string][]string{"beat": {n.beat("beat")}, "leader-beat": {n.leader("leader-beat"), n.beat("leader-beat")}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, q := client(t, srv.URL(), "prefix=mute"), client(t, srv.URL(), "prefix=mute")
			l := acquire(t, p, brief(what, "P"))
			remove(t, operator, keys...)
			get(t, q, what)
			if len(keys) == 2 {
				l = takeOver(t, p, brief(what, "P"))
			}
			release(t, p, l)
			<-time.After(2500 * time.Millisecond)
			acquire(t, p, brief(what, "P"))
			remove(t, operator, keys...)
			_, err := q.Acquire(deadline(t, ample), claim(what, "Q"))
			class(t, "acquire of a later lease without a beat", err, backend.Held)
		})
	}
}

// Two of the three keys are deleted by hand: the one that is left keeps the election closed for the lease's time, and the token growing.
func TestTwoRemovedKeys(t *testing.T) {
	t.Parallel()
	srv := start(t)
	operator, n := raw(t, srv), names{"two"}
	for what, keys := range map[string][]string{
		"leader-counter": {n.leader("leader-counter"), n.counter("leader-counter")},
		"leader-beat":    {n.leader("leader-beat"), n.beat("leader-beat")},
		"beat-counter":   {n.beat("beat-counter"), n.counter("beat-counter")},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, q := client(t, srv.URL(), "prefix=two"), client(t, srv.URL(), "prefix=two")
			for range 3 {
				release(t, p, acquire(t, p, claim(what, "P")))
			}
			l := acquire(t, p, brief(what, "P"))
			remove(t, operator, keys...)
			_, err := q.Acquire(deadline(t, ample), claim(what, "Q"))
			class(t, "acquire while the holder may believe", err, backend.Held)
			if next := takeOver(t, q, claim(what, "Q")); next.Token <= l.Token {
				t.Errorf("token %d after %d", next.Token, l.Token)
			}
		})
	}
}

// EC62: another tool's session had the key, and was destroyed with a lock-delay: claims fail without a storm of requests until it is over.
func TestALockDelayOfOthers(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	s, operator := over(t, rawVia(t, srv, g), "ec62"), raw(t, srv)
	l := acquire(t, s, claim("e", "P"))
	release(t, s, l)
	pair, _, err := operator.KV().Get(names{"ec62"}.leader("e"), nil)
	if err != nil {
		t.Fatal(err)
	}
	pair.Session = must[string](t)(func() (string, error) {
		id, _, err := operator.Session().CreateNoChecks(&api.SessionEntry{LockDelay: 2 * time.Second}, nil)
		return id, err
	}())
	if ok, _, err := operator.KV().Acquire(pair, nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, err := operator.Session().Destroy(pair.Session, nil); err != nil {
		t.Fatal(err)
	}
	g.requests()
	_, err = s.Acquire(deadline(t, ample), claim("e", "Q"))
	class(t, "acquire within another tool's lock-delay", err, backend.Unknown)
	if n, paths := g.requests(); n > 3 {
		t.Errorf("a claim within a lock-delay took %d requests: %v", n, paths)
	}
	eventually(t, "a grant after the lock-delay", func() bool {
		_, err := s.Acquire(deadline(t, ample), claim("e", "Q"))
		return err == nil
	})
}
