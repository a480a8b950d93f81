package consul

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// listedAs is an entry.
func listedAs(election, candidate, note string, ttl time.Duration) backend.Entry {
	c := backend.Candidate{ID: candidate, Description: backend.Description{App: "test"}}
	return backend.Entry{Election: election, Candidate: c, Note: note, TTL: ttl}
}

// kept is the key of an entry.
func kept(t *testing.T, operator *api.Client, prefix, election, candidate string) *api.KVPair {
	t.Helper()
	pair, _, err := operator.KV().Get(names{prefix}.listing(election, candidate), nil)
	if err != nil || pair == nil {
		t.Fatalf("%s is not listed: %v", candidate, err)
	}
	return pair
}

// A repeat without a change writes nothing, and keeps the entry beyond its first time. When it isn't repeated it goes, while another entry under the same session stays; and when none is left, the
// session goes, but not that of the leases.
func TestRosterTimes(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, operator := client(t, srv.URL(), "prefix=times"), raw(t, srv)
	acquire(t, s, claim("e", "a"))
	short := listedAs("e", "short", "note", 5*time.Second)
	enlist(t, s, short)
	first := kept(t, operator, "times", "e", "short")
	enlist(t, s, listedAs("e", "long", "", 16*time.Second))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range 8 {
		<-tick.C
		enlist(t, s, short)
		if got := onList(t, s, "e"); len(got) != 2 || got[1] != short {
			t.Fatalf("listed are %v", got)
		}
	}
	if again := kept(t, operator, "times", "e", "short"); again.ModifyIndex != first.ModifyIndex || again.Session != first.Session {
		t.Error("a repeat has written")
	}
	lasting := time.Now()
	eventually(t, "an entry that isn't repeated goes", func() bool { return len(onList(t, s, "e")) == 1 })
	if passed := time.Since(lasting); passed < short.TTL {
		t.Errorf("it was gone after %v, its time is %v", passed, short.TTL)
	}
	if got := onList(t, s, "e"); len(got) != 1 || got[0].Candidate.ID != "long" {
		t.Errorf("left are %v", got)
	}
	eventually(t, "the other goes too", func() bool { return len(onList(t, s, "e")) == 0 })
	eventually(t, "the session is destroyed", func() bool {
		info, _, err := operator.Session().Info(first.Session, nil)
		return err == nil && info == nil
	})
	if id, _ := inner(t, s).session.current(); id == "" || id == first.Session {
		t.Errorf("the session of the leases is %q, that of the roster was %q", id, first.Session)
	}
}

// A process that dies, here by a store which can't reach its server any more, leaves its entries for no longer than its session.
func TestRosterOfTheDead(t *testing.T) {
	t.Parallel()
	srv := start(t)
	p, rawURL := through(t, srv)
	s, other := client(t, rawURL, "prefix=dead"), client(t, srv.URL(), "prefix=dead")
	e := listedAs("e", "a", "", 2*time.Second)
	enlist(t, s, e)
	p.Down()
	died := time.Now()
	kit := kit
	kit.Ample = 3 * ample
	kit.Eventually(t, "the entry of the dead goes", func() bool { return len(onList(t, other, "e")) == 0 })
	t.Logf("gone after %v", time.Since(died))
	if pair, _, err := raw(t, srv).KV().Get(names{"dead"}.listing("e", "a"), nil); pair != nil || err != nil {
		t.Errorf("its key is left: %v, %v", pair, err)
	}
}

// Whoever takes an entry off, or puts one in its place, and whatever ends its session: the next Enlist lists it again, though nothing has changed to the eyes of its store.
func TestRosterEntryOfOthersHands(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, other, operator := client(t, srv.URL(), "prefix=hands"), client(t, srv.URL(), "prefix=hands"), raw(t, srv)
	mine := listedAs("e", "a", "mine", time.Minute)
	enlist(t, s, mine)
	for what, harm := range map[string]func(){
		"delisted by another store": func() {
			if err := other.(backend.Roster).Delist(deadline(t, ample), "e", "a"); err != nil {
				t.Fatal(err)
			}
		},
		"replaced by another store": func() { enlist(t, other, listedAs("e", "a", "other", time.Minute)) },
		"without its session": func() {
			if _, err := operator.Session().Destroy(kept(t, operator, "hands", "e", "a").Session, nil); err != nil {
				t.Fatal(err)
			}
		},
		"put by hand": func() {
			remove(t, operator, names{"hands"}.listing("e", "a"))
			if _, err := operator.KV().Put(&api.KVPair{Key: names{"hands"}.listing("e", "a"), Value: encode(listing{Candidate: "a"})}, nil); err != nil {
				t.Fatal(err)
			}
			if got := onList(t, other, "e"); len(got) != 0 {
				t.Errorf("a key without a session is listed: %v", got)
			}
		},
	} {
		harm()
		enlist(t, s, mine)
		if got := onList(t, other, "e"); len(got) != 1 || got[0] != mine {
			t.Errorf("after it was %s, listed are %v", what, got)
		}
	}
}

// An entry's time is up, and its removal is under way when it is listed again: it stays.
func TestRosterRemovalThatIsOutdated(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, operator := client(t, srv.URL(), "prefix=outdated"), raw(t, srv)
	in, key := inner(t, s), names{"outdated"}.listing("e", "a")
	enlist(t, s, listedAs("e", "a", "", time.Millisecond))
	<-time.After(2 * time.Millisecond)
	overdue := in.roster.overdue()
	if len(overdue) != 1 {
		t.Fatalf("overdue are %v", overdue)
	}
	before := kept(t, operator, "outdated", "e", "a").ModifyIndex
	enlist(t, s, listedAs("e", "a", "", time.Minute))
	if err := in.delist(deadline(t, ample), overdue, key); err != nil {
		t.Fatal(err)
	}
	if after := kept(t, operator, "outdated", "e", "a").ModifyIndex; after == before {
		t.Error("an entry that is listed anew was not written, so that a removal of the old one that comes later takes it off")
	}
	if got := onList(t, s, "e"); len(got) != 1 {
		t.Errorf("listed are %v", got)
	}
}

// A store whose overdue entries can't be removed doesn't keep them alive: its session isn't renewed.
func TestRosterThatCantBeSwept(t *testing.T) {
	t.Parallel()
	srv := start(t)
	g := newGate(t)
	s := over(t, rawVia(t, srv, g), "sweep")
	enlist(t, s, listedAs("e", "a", "", time.Millisecond))
	enlist(t, s, listedAs("e", "b", "", time.Minute))
	in := inner(t, s)
	<-time.After(2 * time.Millisecond)
	id, _ := in.roster.session.current()
	g.requests()
	g.fail(500)
	in.roster.session.beat(deadline(t, ample), id)
	_, paths := g.requests()
	for path := range paths {
		if strings.Contains(path, "session") {
			t.Errorf("the session was renewed: %v", paths)
		}
	}
	g.fail(0)
	in.roster.session.beat(deadline(t, ample), id)
	_, paths = g.requests()
	renewed := false
	for path := range paths {
		renewed = renewed || strings.Contains(path, "session")
	}
	if got := onList(t, s, "e"); len(got) != 1 || got[0].Candidate.ID != "b" || !renewed {
		t.Errorf("listed are %v after %v", got, paths)
	}
}

// Entries stay for a while when their store is closed, and a roster without entries leaves no session.
func TestRosterAfterClose(t *testing.T) {
	t.Parallel()
	srv := start(t)
	s, empty, other, operator := client(t, srv.URL(), "prefix=closed"), client(t, srv.URL(), "prefix=closed"), client(t, srv.URL(), "prefix=closed"), raw(t, srv)
	enlist(t, s, listedAs("e", "a", "", time.Minute))
	enlist(t, empty, listedAs("e", "b", "", time.Minute))
	id := kept(t, operator, "closed", "e", "b").Session
	if err := empty.(backend.Roster).Delist(deadline(t, ample), "e", "b"); err != nil {
		t.Fatal(err)
	}
	for _, store := range []backend.LeaseStore{s, empty} {
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := onList(t, other, "e"); len(got) != 1 || got[0].Candidate.ID != "a" {
		t.Errorf("listed after Close are %v", got)
	}
	if info, _, err := operator.Session().Info(id, nil); info != nil || err != nil {
		t.Errorf("a session without entries is left: %v, %v", info, err)
	}
}

// A roster's keys are none of an election's, whatever its name, and its changes wake nobody.
func TestRosterIsApart(t *testing.T) {
	t.Parallel()
	s := client(t, start(t).URL(), "prefix=apart")
	all := []string{"roster", "floor", "..", ".", "e", "e/a", "a", "leader/x"}
	for _, n := range all {
		enlist(t, s, listedAs(n, n, n, time.Minute))
		enlist(t, s, listedAs("order", n, "", time.Minute))
	}
	for _, n := range all {
		if got := onList(t, s, n); len(got) != 1 || got[0].Note != n {
			t.Errorf("listed for %q are %v", n, got)
		}
		if r := get(t, s, n); r != (backend.Record{Election: n}) {
			t.Errorf("the roster has made a record: %+v", r)
		}
	}
	if got := elections(t, s, "", 100); len(got) != 0 {
		t.Errorf("elections without a record are listed: %v", got)
	}
	release(t, s, acquire(t, s, claim("e", "a")))
	if got := onList(t, s, "e"); len(got) != 1 {
		t.Errorf("listed after a term are %v", got)
	}
	var ids []string
	for _, e := range onList(t, s, "order") {
		ids = append(ids, e.Candidate.ID)
	}
	if !slices.IsSorted(ids) || len(ids) != len(all) {
		t.Errorf("the order is %v", ids)
	}
}
