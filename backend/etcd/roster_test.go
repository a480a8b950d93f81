package etcd

import (
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// entry is one for a candidate.
func listedAs(election, candidate, note string, ttl time.Duration) backend.Entry {
	c := backend.Candidate{ID: candidate, Description: backend.Description{App: "test"}}
	return backend.Entry{Election: election, Candidate: c, Note: note, TTL: ttl}
}

// listing is the key of an entry.
func listingOf(t *testing.T, operator *clientv3.Client, election, candidate string) (rev int64, lease clientv3.LeaseID) {
	t.Helper()
	got := must[*clientv3.GetResponse](t)(operator.Get(deadline(t, ample), newNames(defaultPrefix).listing(election, candidate)))
	if len(got.Kvs) != 1 {
		t.Fatalf("%s is not listed", candidate)
	}
	return got.Kvs[0].ModRevision, clientv3.LeaseID(got.Kvs[0].Lease)
}

// ended reports whether an etcd lease is gone.
func ended(t *testing.T, operator *clientv3.Client, id clientv3.LeaseID) bool {
	t.Helper()
	return must[*clientv3.LeaseTimeToLiveResponse](t)(operator.TimeToLive(deadline(t, ample), id)).TTL < 0
}

// A repeat without a change writes nothing and begins the entry's time anew; a change of the note keeps the etcd lease; a change of the TTL takes a new one and ends the old.
func TestRosterRepeats(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	s, operator := client(t, srv.URL(), ""), raw(t, srv)
	enlist(t, s, listedAs("repeats", "a", "one", 4*time.Second))
	rev, lease := listingOf(t, operator, "repeats", "a")
	until(t, 2*time.Second)
	enlist(t, s, listedAs("repeats", "a", "one", 4*time.Second))
	if again, on := listingOf(t, operator, "repeats", "a"); again != rev || on != lease {
		t.Error("a repeat has written")
	}
	if left := must[*clientv3.LeaseTimeToLiveResponse](t)(operator.TimeToLive(deadline(t, ample), lease)).TTL; left < 2 {
		t.Errorf("%d s are left after a repeat of an entry for 4 s", left)
	}
	enlist(t, s, listedAs("repeats", "a", "two", 4*time.Second))
	if _, on := listingOf(t, operator, "repeats", "a"); on != lease || listed(t, s, "repeats")[0].Note != "two" {
		t.Errorf("after another note: on etcd lease %x, before %x: %v", on, lease, listed(t, s, "repeats"))
	}
	enlist(t, s, listedAs("repeats", "a", "two", time.Minute))
	_, lease = listingOf(t, operator, "repeats", "a")
	enlist(t, s, listedAs("repeats", "a", "two", 2*time.Minute))
	if _, on := listingOf(t, operator, "repeats", "a"); on == lease {
		t.Error("after another TTL the entry is on the old etcd lease")
	}
	eventually(t, "the old etcd lease is revoked", func() bool { return ended(t, operator, lease) })
	if n := len(listed(t, s, "repeats")); n != 1 {
		t.Errorf("%d are listed after the old etcd lease has ended", n)
	}
}

// An entry for less than the server's least lives a little longer, and ends by itself.
func TestRosterShortEntry(t *testing.T) {
	t.Parallel()
	s := client(t, testenv.Etcd(t).URL(), "")
	enlist(t, s, listedAs("short", "a", "", time.Millisecond))
	if got := listed(t, s, "short"); len(got) != 1 || got[0].TTL != time.Second {
		t.Errorf("listed are %v", got)
	}
	eventually(t, "the entry has ended", func() bool { return len(listed(t, s, "short")) == 0 })
}

// Whoever takes an entry off, or puts one in its place, and whatever ends its etcd lease: the next Enlist lists it again, though nothing has changed to the eyes of its store.
func TestRosterEntryOfOthersHands(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	s, other, operator := client(t, srv.URL(), ""), client(t, srv.URL(), ""), raw(t, srv)
	mine := listedAs("hands", "a", "mine", time.Minute)
	enlist(t, s, mine)
	for what, harm := range map[string]func(){
		"delisted by another store": func() {
			if err := other.(backend.Roster).Delist(deadline(t, ample), "hands", "a"); err != nil {
				t.Fatal(err)
			}
		},
		"replaced by another store": func() { enlist(t, other, listedAs("hands", "a", "other", time.Minute)) },
		"without its etcd lease": func() {
			_, lease := listingOf(t, operator, "hands", "a")
			must[*clientv3.LeaseRevokeResponse](t)(operator.Revoke(deadline(t, ample), lease))
		},
		"put by hand": func() {
			must[*clientv3.PutResponse](t)(operator.Put(deadline(t, ample), newNames(defaultPrefix).listing("hands", "a"), "no entry"))
		},
	} {
		harm()
		enlist(t, s, mine)
		if got := listed(t, other, "hands"); len(got) != 1 || got[0] != mine {
			t.Errorf("after it was %s, listed are %v", what, got)
		}
	}
}

// Entries stay when their store is closed: they are listed for their time. A delisted one leaves no etcd lease behind.
func TestRosterAfterClose(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t)
	s, other, operator := client(t, srv.URL(), ""), client(t, srv.URL(), ""), raw(t, srv)
	enlist(t, s, listedAs("closed", "a", "", time.Minute))
	enlist(t, s, listedAs("closed", "b", "", time.Minute))
	_, lease := listingOf(t, operator, "closed", "b")
	if err := s.(backend.Roster).Delist(deadline(t, ample), "closed", "b"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the etcd lease of a delisted entry is revoked", func() bool { return ended(t, operator, lease) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, other, "closed"); len(got) != 1 || got[0].Candidate.ID != "a" {
		t.Errorf("listed after Close are %v", got)
	}
}

// A roster's keys are none of an election's, whatever its name, and its changes wake nobody.
func TestRosterIsApart(t *testing.T) {
	t.Parallel()
	s := client(t, testenv.Etcd(t).URL(), "prefix=apart")
	names := []string{"roster", "~roster", "~", "~roster/e", "e", "e/a", "a"}
	wake := watching(t, s, "e")
	for _, n := range names {
		enlist(t, s, listedAs(n, n, n, time.Minute))
	}
	for _, n := range names {
		if got := listed(t, s, n); len(got) != 1 || got[0].Note != n {
			t.Errorf("listed for %q are %v", n, got)
		}
		if r := get(t, s, n); r != (backend.Record{Election: n, Mode: backend.Native}) {
			t.Errorf("the roster has made a record: %+v", r)
		}
	}
	if got := must[[]string](t)(s.(backend.Lister).Elections(deadline(t, ample), "", 100)); len(got) != 0 {
		t.Errorf("elections without a record are listed: %v", got)
	}
	l := acquire(t, s, claim("e", "a"))
	woken(t, "a grant", wake)
	release(t, s, l)
	if got := listed(t, s, "e"); len(got) != 1 {
		t.Errorf("listed after a term are %v", got)
	}
	for i := range names {
		enlist(t, s, listedAs("order", names[i], "", time.Minute))
	}
	got := listed(t, s, "order")
	if !slices.IsSortedFunc(got, func(a, b backend.Entry) int { return compareIDs(a, b) }) || len(got) != len(names) {
		t.Errorf("the order is %v", got)
	}
}

func compareIDs(a, b backend.Entry) int {
	switch {
	case a.Candidate.ID < b.Candidate.ID:
		return -1
	case a.Candidate.ID > b.Candidate.ID:
		return 1
	}
	return 0
}
