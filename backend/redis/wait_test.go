package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// replicaOf starts a replica, and returns when it is in step with its master.
func replicaOf(t *testing.T, master *testenv.Server) *testenv.Server {
	t.Helper()
	port := master.Addr()[strings.LastIndex(master.Addr(), ":")+1:]
	replica := testenv.Redis(t, testenv.Options{Settings: []string{"replicaof 127.0.0.1 " + port, "masterauth " + testenv.Password()}})
	server := raw(t, replica.URL())
	eventually(t, "the replica is in step", func() bool {
		return strings.Contains(must[string](t)(server.Info(deadline(t, ample), "replication").Result()), "master_link_status:up")
	})
	return replica
}

// soon is the time of a call that can't succeed, with room for a busy machine.
const soon = 2 * time.Second

// fast makes replicas come into step at once: by default a master waits 5 s for more of them.
var fast = testenv.Options{Settings: []string{"repl-diskless-sync-delay 0"}}

// wait=N on a primary with replicas is a store like others.
func TestConformanceWithWait(t *testing.T) {
	t.Parallel()
	srv := testenv.Redis(t, fast)
	replicaOf(t, srv)
	conformance.Run(t, variant(suite(srv.URL()+"?wait=1&"+patient, raw(t, srv.URL()))))
}

// What was granted or renewed is on the replica when the call returns.
func TestAcknowledgedWritesAreOnTheReplica(t *testing.T) {
	srv := testenv.Redis(t, fast)
	replica := replicaOf(t, srv)
	s, behind := client(t, srv.URL(), "wait=1"), raw(t, replica.URL())
	key := inner(t, s).names.key("e")
	l := acquire(t, s, claim("e", "a"))
	for i := range 20 {
		renew(t, s, l)
		if got := must[int](t)(behind.HGet(deadline(t, ample), key, "renewals").Int()); got != i+1 {
			t.Fatalf("the replica knows of %d renewals, want %d", got, i+1)
		}
	}
}

// DX13, R48: the replica is frozen. A grant is taken back, a renewal stands and is unknown, nothing is released; and all is well when it is back.
func TestFrozenReplica(t *testing.T) {
	srv := testenv.Redis(t, fast)
	replica := replicaOf(t, srv)
	s := client(t, srv.URL(), "wait=1")
	all := leases(t, s, 3)
	replica.Freeze()
	short := func(what string, err error) {
		t.Helper()
		class(t, what, err, backend.Unknown)
		if err == nil || !strings.Contains(err.Error(), "0 of 1 replicas acknowledged") {
			t.Errorf("%s: %v doesn't say how many acknowledged", what, err)
		}
	}
	c := claim("e", "a")
	_, err := s.Acquire(deadline(t, soon), c)
	short("acquire", err)
	if r := get(t, s, "e"); r.Held() || r.Attempt != c.Attempt {
		t.Errorf("the grant was not taken back: %+v", r)
	}
	_, err = s.Acquire(deadline(t, soon), c)
	class(t, "a repeat of the claim", err, backend.NotHeld)
	_, err = s.Renew(deadline(t, soon), all[0])
	short("renew", err)
	for i, r := range backend.RenewAll(deadline(t, soon), s, all) {
		short(fmt.Sprint("renewal ", i), r.Err)
	}
	for i, l := range all {
		if r := get(t, s, l.Election); r.Token != l.Token || !r.Held() || r.Renewals == 0 {
			t.Errorf("after renewals without acknowledgement lease %d is %+v", i, r)
		}
	}
	release(t, s, all[2]) // needs nobody
	replica.Thaw()
	eventually(t, "the replica acknowledges", func() bool { _, err := s.Renew(deadline(t, ample), all[0]); return err == nil })
	acquire(t, s, claim("e", "b"))
}

// A grant that is taken back late, when the same claim was repeated meanwhile and its lease may be believed in, is not taken back.
func TestTakingBackSparesARepeat(t *testing.T) {
	srv := testenv.Redis(t)
	s := client(t, srv.URL(), "")
	in, ctx, c := inner(t, s), deadline(t, ample), claim("e", "a")
	args := []any{c.Candidate.ID, "{}", c.Attempt.String(), micros(c.TTL), 0, "", in.names.channel("e"), string(backend.Native), ""}
	first, err := in.run(ctx, acquireScript, "e", args...)
	if err != nil || first.status != "granted" {
		t.Fatal(first, err)
	}
	l := acquire(t, s, c)
	few := errors.New("too few")
	if err := in.takeBack(ctx, c, first.call, few); !errors.Is(err, few) {
		t.Error(err)
	}
	renew(t, s, l)
	again, err := in.run(ctx, acquireScript, "e", args...)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.takeBack(ctx, c, again.call, few); !errors.Is(err, few) {
		t.Error(err)
	}
	if r := get(t, s, "e"); r.Held() {
		t.Errorf("what nobody repeated stays: %v", r)
	}
}

// A lost lease is lost, whether replicas acknowledge or not.
func TestLossNeedsNoAcknowledgement(t *testing.T) {
	srv := testenv.Redis(t)
	s := client(t, srv.URL(), "wait=1")
	l := acquire(t, client(t, srv.URL(), ""), claim("e", "a"))
	release(t, s, l)
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renew of a released lease", err, backend.NotHeld)
	_, err = s.Acquire(deadline(t, soon), claim("e", "a"))
	class(t, "acquire without any replica", err, backend.Unknown)
}

// R48: a primary that is made a replica has nobody to wait for.
func TestWaitOnADemotedPrimary(t *testing.T) {
	srv := testenv.Redis(t, fast)
	replicaOf(t, srv)
	s, server := client(t, srv.URL(), "wait=1"), raw(t, srv.URL())
	l := acquire(t, s, claim("e", "a"))
	if err := server.ReplicaOf(deadline(t, ample), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renew on a demoted primary", err, backend.Unknown)
	_, err = s.Acquire(deadline(t, ample), claim("other", "a"))
	class(t, "acquire on a demoted primary", err, backend.Unknown)
	if err := server.ReplicaOf(deadline(t, ample), "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it works again", func() bool { _, err := s.Renew(deadline(t, ample), l); return err == nil })
}
