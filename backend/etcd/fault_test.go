package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// EC9, EC31, PE38: members disagree for a moment, or answer nonsense. The request is repeated within the call.
func TestOddErrorsAreRetried(t *testing.T) {
	srv := testenv.Etcd(t)
	var next atomic.Pointer[error]
	s, _ := counted(t, srv, func(method string) error {
		if strings.HasSuffix(method, "/LeaseKeepAlive") || strings.HasSuffix(method, "/Txn") {
			if err := next.Swap(nil); err != nil {
				return *err
			}
		}
		return nil
	})
	warm(t, s)
	l := acquire(t, s, claim("odd", "a"))
	for _, err := range []error{
		status.Error(codes.Unknown, "not a primary lessor"), status.Error(codes.Unknown, "EOF"), status.Error(codes.Unavailable, "etcdserver: leader changed"),
		status.Error(codes.Internal, "stream terminated by RST_STREAM"), status.Error(codes.DeadlineExceeded, "etcdserver: request timed out"), context.DeadlineExceeded,
		status.Error(codes.ResourceExhausted, "etcdserver: too many requests"),
	} {
		next.Store(&err)
		renew(t, s, l)
		if next.Load() != nil {
			t.Errorf("%v was not delivered", err)
		}
		next.Store(&err)
		other := acquire(t, s, claim("odd/2", "a"))
		next.Store(&err)
		release(t, s, other)
	}
}

// EC13: somebody puts the leader key by hand, which takes it off its etcd lease. The living holder binds it again.
func TestHolderBindsDetachedKeyAgain(t *testing.T) {
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	l := acquire(t, s, claim("detached", "a"))
	detach(t, operator, "detached")
	if bound(t, operator, "detached") != 0 {
		t.Fatal("the key is still on an etcd lease")
	}
	renew(t, s, l)
	if bound(t, operator, "detached") <= 0 {
		t.Error("a renewal has left the key without an etcd lease")
	}
}

func detach(t *testing.T, operator *clientv3.Client, election string) {
	t.Helper()
	key := newNames(defaultPrefix).leader(election)
	got := must[*clientv3.GetResponse](t)(operator.Get(deadline(t, ample), key))
	must[*clientv3.PutResponse](t)(operator.Put(deadline(t, ample), key, string(got.Kvs[0].Value)))
}

// EC13: the holder of a key without an etcd lease is dead. Another takes over after a TTL in which the key didn't change, and no earlier; what is written in between
// starts the wait anew.
func TestDetachedKeyOfDeadHolderIsTakenOver(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	for _, value := range []string{"", "written by hand"} {
		election := "dead" + value
		c := claim(election, "a")
		c.TTL = 2 * time.Second
		first := acquire(t, s, c)
		detach(t, operator, election)
		touched := time.Now()
		_, err := s.Acquire(deadline(t, ample), claim(election, "b"))
		class(t, "claim right after the key was put by hand", err, backend.Held)
		if held, ok := errors.AsType[*backend.HeldError](err); !ok || held.Record.Wait("b") <= 0 || held.Record.Mode != backend.Observed {
			t.Errorf("the record is %+v, want one to be observed", held)
		}
		if value != "" {
			touched = time.Now()
			must[*clientv3.PutResponse](t)(operator.Put(deadline(t, ample), newNames(defaultPrefix).leader(election), value))
		}
		var l backend.Lease
		eventually(t, "another takes over", func() bool {
			l, err = s.Acquire(deadline(t, ample), claim(election, "b"))
			return err == nil
		})
		if waited := time.Since(touched); waited < c.TTL {
			t.Errorf("taken over %v after the key was put by hand, want %v at least", waited, c.TTL)
		}
		if l.Token <= first.Token || bound(t, operator, election) <= 0 {
			t.Errorf("token %d after %d, on etcd lease %x", l.Token, first.Token, bound(t, operator, election))
		}
		_, err = s.Renew(deadline(t, ample), first)
		class(t, "renewal by the one that was taken over", err, backend.NotHeld)
	}
}

// EC2, EC30, PE25: a term whose etcd lease was revoked by hand has ended, and is never revived.
func TestRevokedByHand(t *testing.T) {
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	l := acquire(t, s, claim("revoked", "a"))
	must[*clientv3.LeaseRevokeResponse](t)(operator.Revoke(deadline(t, ample), bound(t, operator, "revoked")))
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renewal", err, backend.NotHeld)
	acquire(t, s, claim("revoked", "b"))
}

// DX8: a transaction of the user's is applied only under the term it is bound to: not after the release, not in another's term, not in a later one of the same candidate.
func TestCompareIsBoundToTheTerm(t *testing.T) {
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	writes := func(l backend.Lease) bool {
		t.Helper()
		got, err := operator.Txn(deadline(t, ample)).If(inner(t, s).Compare(l.Election, l.Fence())...).Then(clientv3.OpPut("report", "x")).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return got.Succeeded
	}
	first := acquire(t, s, claim("fence", "a"))
	if err := s.(backend.TokenRaiser).Raise(deadline(t, ample), "fence", first.Token+10); err != nil {
		t.Fatal(err)
	}
	others := append(many(t, s, 2, first.TTL), first)
	renewAll(t, s, others) // moves it
	if !writes(first) {
		t.Error("refused in its own term, after Raise and a renewal")
	}
	release(t, s, first)
	if writes(first) {
		t.Error("applied after the release")
	}
	second := acquire(t, s, claim("fence", "b"))
	if writes(first) || !writes(second) {
		t.Error("applied in another's term, or refused in its own")
	}
	release(t, s, second)
	third := acquire(t, s, claim("fence", "a"))
	if writes(first) || writes(second) || !writes(third) {
		t.Error("a write of an earlier term of the same candidate was applied, or one of the present refused")
	}
}

// NOSPACE: leases are still renewed; a release fails and says what to do, and Warnings tells.
func TestNoSpace(t *testing.T) {
	srv := testenv.Etcd(t, testenv.Options{Settings: []string{"--quota-backend-bytes=1048576"}})
	operator := raw(t, srv)
	s := client(t, srv.URL(), "")
	leases := many(t, s, 3, time.Minute) // not yet on one carrier
	eventually(t, "the alarm is raised", func() bool {
		_, err := operator.Put(deadline(t, ample), "fill", strings.Repeat("x", 200_000))
		return err != nil && strings.Contains(err.Error(), "space exceeded")
	})
	for _, l := range leases {
		renew(t, s, l)
	}
	for range 2 { // the first one tries to move them together
		backend.RenewAll(deadline(t, ample), s, leases)
	}
	renewAll(t, s, leases)
	for what, err := range map[string]error{
		"release": s.Release(deadline(t, ample), leases[0], backend.Handover{}),
		"acquire": func() error { _, err := s.Acquire(deadline(t, ample), claim("full", "a")); return err }(),
	} {
		class(t, what, err, backend.Unknown)
		if err == nil || !strings.Contains(err.Error(), "alarm disarm") {
			t.Errorf("%s: %v doesn't say what to do", what, err)
		}
	}
	fresh := client(t, srv.URL(), "")
	warm(t, fresh)
	if found := fmt.Sprint(inner(t, fresh).Warnings()); !strings.Contains(found, "NOSPACE") {
		t.Errorf("the warnings are %s", found)
	}
	_, err := backend.Open(deadline(t, ample), srv.URL()+"?strict=1")
	if err == nil || !strings.Contains(err.Error(), "NOSPACE") {
		t.Errorf("strict open: %v", err)
	}
	rev := must[*clientv3.DeleteResponse](t)(operator.Delete(deadline(t, ample), "fill")).Header.Revision
	must[*clientv3.CompactResponse](t)(operator.Compact(deadline(t, ample), rev, clientv3.WithCompactPhysical()))
	must[*clientv3.DefragmentResponse](t)(operator.Defragment(deadline(t, ample), "http://"+srv.Addr()))
	must[*clientv3.AlarmResponse](t)(operator.AlarmDisarm(deadline(t, ample), &clientv3.AlarmMember{}))
	eventually(t, "a release works after the alarm", func() bool {
		return s.Release(deadline(t, ample), leases[0], backend.Handover{}) == nil
	})
}
