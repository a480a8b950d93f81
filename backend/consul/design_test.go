package consul

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// DX1: a claim whose reply was lost is ours when it is repeated, and counts from the repeat, since that moves the beat.
func TestARepeatedClaimMovesTheBeat(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	s := over(t, rawVia(t, srv, g), "dx1")
	c := claim("e", "P")
	caught, goOn := g.hold(true, writes("lock"))
	defer goOn()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := s.Acquire(ctx, c); done <- err }()
	<-caught
	eventually(t, "the grant is applied", func() bool { return get(t, over(t, raw(t, srv), "dx1"), "e").Held() })
	cancel()
	class(t, "acquire whose reply was lost", <-done, backend.Unknown)
	goOn()
	before := must[*view](t)(inner(t, s).look(t.Context(), "e"))
	l := acquire(t, s, c)
	after := must[*view](t)(inner(t, s).look(t.Context(), "e"))
	if l.AnchorAge != 0 || l.Token != before.leader.Token || after.beatIndex <= before.beatIndex {
		t.Errorf("the repeat got %+v, the beat's index went from %d to %d", l, before.beatIndex, after.beatIndex)
	}
}

// DX2, EC55: one process holds two leases and stops to renew one of them: that one ends, though its session lives on and the process goes on beating for the other, in a batch or one by one.
func TestEachLeaseLivesOnItsOwn(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, q := client(t, srv.URL(), "prefix=dx2"), client(t, srv.URL(), "prefix=dx2")
	acquire(t, p, brief("e1", "P"))
	l2 := acquire(t, p, brief("e2", "P"))
	c := claim("e1", "Q")
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(ample); ; <-tick.C {
		renewal := backend.RenewAll(deadline(t, ample), p, []backend.Lease{l2})[0]
		if renewal.Err != nil {
			t.Fatal(renewal.Err)
		}
		l2 = renewal.Lease
		if _, err := q.Acquire(deadline(t, ample), c); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the lease that nobody renews doesn't end")
		}
	}
	if r := get(t, q, "e2"); !r.Held() {
		t.Errorf("the lease that is renewed has ended: %v", r)
	}
}

// DX3: P beats in the last moment, between Q's look and Q's take-over: the server refuses Q.
func TestABeatInTheLastMomentStopsATakeOver(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p := client(t, srv.URL(), "prefix=dx3")
	g := newGate(t)
	q := over(t, rawVia(t, srv, g), "dx3")
	l := acquire(t, p, brief("e", "P"))
	get(t, q, "e")
	eventually(t, "silence", func() bool { return !get(t, q, "e").Held() })
	caught, goOn := g.hold(false, writes("lock"))
	defer goOn()
	done := make(chan error, 1)
	go func() { _, err := q.Acquire(deadline(t, ample), claim("e", "Q")); done <- err }()
	<-caught
	renew(t, p, l)
	goOn()
	class(t, "take-over after the holder has beaten", <-done, backend.Held)
	renew(t, p, l)
}

// DX3: an old sighting says nothing of a later lease: R has watched the free election for long, Q is granted it, R must wait for Q's whole TTL.
func TestAnOldSightingSaysNothingOfALaterLease(t *testing.T) {
	t.Parallel()
	srv := start(t)
	q, r := client(t, srv.URL(), "prefix=dx3b"), client(t, srv.URL(), "prefix=dx3b")
	release(t, q, acquire(t, q, brief("e", "Q")))
	get(t, r, "e")
	<-time.After(2500 * time.Millisecond)
	acquire(t, q, brief("e", "Q"))
	_, err := r.Acquire(deadline(t, ample), claim("e", "R"))
	class(t, "acquire of a new lease", err, backend.Held)
}

// DX4: a renewal on its way while another takes over and releases: it neither leads again nor writes the old token back.
func TestALateRenewalIsRefused(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	p, q := over(t, rawVia(t, srv, g), "dx4"), client(t, srv.URL(), "prefix=dx4")
	l := acquire(t, p, brief("e", "P"))
	caught, goOn := g.hold(false, writes("cas"))
	defer goOn()
	done := make(chan error, 1)
	go func() { _, err := p.Renew(deadline(t, ample), l); done <- err }()
	<-caught
	later := takeOver(t, q, claim("e", "Q"))
	release(t, q, later)
	goOn()
	class(t, "a late renewal", <-done, backend.NotHeld)
	if r := get(t, q, "e"); r.Held() || r.Token != later.Token {
		t.Errorf("after a late renewal the record is %+v, want it free with token %d", r, later.Token)
	}
}

// DX4: a release of term 1 on its way, while the same process leads again under term 2 with the same session: term 2 stays.
func TestALateReleaseFreesNoLaterTerm(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	p := over(t, rawVia(t, srv, g), "dx4b")
	l := acquire(t, p, claim("e", "P"))
	caught, goOn := g.hold(false, writes("unlock"))
	defer goOn()
	done := make(chan error, 1)
	go func() { done <- p.Release(deadline(t, ample), l, backend.Handover{}) }()
	<-caught
	release(t, p, l) // the repeat is faster
	second := acquire(t, p, claim("e", "P"))
	goOn()
	class(t, "a late release", <-done, backend.NotHeld)
	if r := get(t, p, "e"); !r.Held() || r.Token != second.Token {
		t.Errorf("after a late release the record is %+v, want token %d held", r, second.Token)
	}
	renew(t, p, second)
}

// DX5, EC46, EC54, PE25: the holder's session is destroyed while its writes still succeed. The key looks free to Consul, but its value doesn't say so: nobody takes it before its holder was silent
// for a TTL. The holder binds its lease to a new session; once it is silent, there is no lock-delay.
func TestALostSessionEndsNoLease(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, q := client(t, srv.URL(), "prefix=dx5"), client(t, srv.URL(), "prefix=dx5")
	operator := raw(t, srv)
	l := acquire(t, p, brief("e", "P"))
	lost := must[*view](t)(inner(t, p).look(t.Context(), "e")).session
	if _, err := operator.Session().Destroy(lost, nil); err != nil {
		t.Fatal(err)
	}
	_, err := q.Acquire(deadline(t, ample), claim("e", "Q"))
	class(t, "acquire of a key without a session", err, backend.Held)
	l = renew(t, p, l)
	v := must[*view](t)(inner(t, p).look(t.Context(), "e"))
	if v.session == "" || v.session == lost {
		t.Errorf("the renewed lease is bound to session %q, the lost one was %q", v.session, lost)
	}
	if id, _ := inner(t, p).session.current(); id != v.session {
		t.Errorf("the store renews session %q, the lease is bound to %q", id, v.session)
	}
	_, err = q.Acquire(deadline(t, ample), claim("e", "Q"))
	class(t, "acquire of a lease that was bound again", err, backend.Held)
	if _, err := operator.Session().Destroy(v.session, nil); err != nil {
		t.Fatal(err)
	}
	next := takeOver(t, q, claim("e", "Q"))
	if next.Token <= l.Token {
		t.Errorf("token %d after %d", next.Token, l.Token)
	}
	_, err = p.Renew(deadline(t, ample), l)
	class(t, "renewal after the take-over", err, backend.NotHeld)
}

// EC46: a session that is destroyed while its lease is released leaves nothing behind that delays the next.
func TestNoLockDelayAfterARelease(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, q := client(t, srv.URL(), "prefix=ec46"), client(t, srv.URL(), "prefix=ec46")
	l := acquire(t, p, claim("e", "P"))
	v := must[*view](t)(inner(t, p).look(t.Context(), "e"))
	if _, err := raw(t, srv).Session().Destroy(v.session, nil); err != nil {
		t.Fatal(err)
	}
	release(t, p, l)
	acquire(t, q, claim("e", "Q"))
}

// DX6: the record's mode and TTL rule, not the challenger's. A lease of a release in which sessions end leases isn't taken over by silence.
func TestTheRecordsModeRules(t *testing.T) {
	t.Parallel()
	srv := start(t)
	operator, q := raw(t, srv), client(t, srv.URL(), "prefix=dx6")
	n := names{"dx6"}
	id, _, err := operator.Session().CreateNoChecks(&api.SessionEntry{TTL: "10s", LockDelay: time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	native := leader{Version: 1, State: held, Mode: backend.Native, Holder: "P", Token: 7, Attempt: attempt(draw()), TTL: 1000}
	ok, _, err := operator.KV().Acquire(&api.KVPair{Key: n.leader("e"), Value: encode(native), Session: id}, nil)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	c := claim("e", "Q")
	c.TTL = time.Second
	for range 5 {
		_, err := q.Acquire(deadline(t, ample), c)
		class(t, "acquire of a native lease", err, backend.Held)
		<-time.After(400 * time.Millisecond)
	}
	if _, err := operator.Session().Destroy(id, nil); err != nil {
		t.Fatal(err)
	}
	if l := takeOver(t, q, c); l.Token != 8 {
		t.Errorf("token %d, want 8", l.Token)
	}
}
