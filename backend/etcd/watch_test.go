package etcd

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// watching starts a watch that ends with the test.
func watching(t testing.TB, s backend.LeaseStore, election string) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var wake <-chan struct{}
	eventually(t, "a watch begins", func() bool {
		var err error
		wake, err = s.Watch(ctx, election)
		return err == nil
	})
	return wake
}

func woken(t testing.TB, what string, wake <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-wake:
		if !open {
			t.Fatalf("%s: the watch has ended", what)
		}
	case <-time.After(ample):
		t.Fatalf("%s: no wake-up", what)
	}
}

// EC21: history was compacted, long after the grant. A watch begins, and one that was cut off goes on.
func TestWatchOverCompaction(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	operator := raw(t, srv)
	p, rawURL := through(t, srv)
	s := client(t, rawURL, "")
	l := acquire(t, s, claim("compacted", "a"))
	old := watching(t, s, "compacted")
	p.Down()
	compact(t, operator)
	p.Heal()
	woken(t, "reconnect after a compaction", old)
	compact(t, operator)
	late := watching(t, s, "compacted")
	if r := get(t, s, "compacted"); r.Token != l.Token {
		t.Errorf("the record is %v, want token %d", r, l.Token)
	}
	for len(old) > 0 {
		<-old
	}
	release(t, s, l)
	woken(t, "a release", old)
	woken(t, "a release", late)
}

func compact(t *testing.T, operator *clientv3.Client) {
	t.Helper()
	var rev int64
	for range 10 {
		rev = must[*clientv3.PutResponse](t)(operator.Put(deadline(t, ample), "noise", "x")).Header.Revision
	}
	must[*clientv3.CompactResponse](t)(operator.Compact(deadline(t, ample), rev))
}

// EC7: the network swallows everything, without an error. The stream is found dead, another one is opened, and a wake-up follows it.
func TestSilentStreamIsReplaced(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	p, _ := through(t, srv)
	quiet := must[*clientv3.Client](t)(clientv3.New(clientv3.Config{Endpoints: []string{"http://" + p.Addr()}, Logger: zap.NewNop()})) // whose transport doesn't look itself
	defer quiet.Close()
	s, other := must[*Store](t)(New(quiet, Options{Ping: 200 * time.Millisecond, Timeout: 300 * time.Millisecond})), client(t, srv.URL(), "")
	defer s.Close()
	wake := watching(t, s, "silent")
	l := acquire(t, other, claim("silent", "a"))
	woken(t, "a grant", wake)
	p.DropReplies() // what is lost now never comes
	release(t, other, l)
	eventually(t, "the stream is given up", func() bool {
		h := s.watch
		h.mu.Lock()
		defer h.mu.Unlock()
		return !h.open
	})
	for len(wake) > 0 {
		<-wake
	}
	p.Heal()
	woken(t, "the new stream", wake)
	acquire(t, other, claim("silent", "b"))
	woken(t, "a grant on the new stream", wake)
}

// A quiet stream that lives is left alone.
func TestQuietStreamIsKept(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	s := client(t, srv.URL(), "ping=20ms")
	wake := watching(t, s, "quiet")
	for len(wake) > 0 {
		<-wake
	}
	select {
	case <-wake:
		t.Error("a wake-up without a change: the stream was replaced")
	case <-time.After(time.Second):
	}
}

// Moving a leader key to another etcd lease is no change: nobody is woken.
func TestMoveWakesNobody(t *testing.T) {
	srv := testenv.Etcd(t)
	s, other := client(t, srv.URL(), ""), client(t, srv.URL(), "")
	wake := watching(t, other, "many/0")
	leases := many(t, s, 3, time.Minute)
	woken(t, "a grant", wake)
	before := bound(t, raw(t, srv), "many/2")
	renewAll(t, s, leases)
	renewAll(t, s, leases)
	if bound(t, raw(t, srv), "many/2") == before && bound(t, raw(t, srv), "many/0") != before {
		t.Fatal("nothing was moved")
	}
	release(t, s, leases[2]) // a later event, so that the earlier ones have come
	later := watching(t, other, "many/2")
	acquire(t, s, claim("many/2", "b"))
	woken(t, "a grant", later)
	select {
	case <-wake:
		t.Error("a move has woken a watch")
	default:
	}
}
