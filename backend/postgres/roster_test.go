package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

var awkward = []string{
	"a", "A", "a/b", "a\nb", "a\x00b", "\x00", "\x01", "\x01\x01", "aB\x00", "aBc", "ab\x00", `\`, `\0`, `\\`, `a\`, `a\0b`, "a]", "a[", "%", "_", `"`, "'", "{}", " ", "é", "\U0001F451",
	strings.Repeat("x", 256), strings.Repeat("\x00", 256),
}

// candidate is an entry of a roster.
func candidate(election, id string, ttl time.Duration) backend.Entry {
	return backend.Entry{Election: election, Candidate: backend.Candidate{ID: id, Description: backend.Description{Host: "host of " + id}}, Note: "note of " + id, TTL: ttl}
}

// A roster keeps each entry as it is, whatever its names hold, and lists it for its TTL.
func TestRoster(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	var want []backend.Entry
	for _, id := range awkward {
		e := candidate("e", id, time.Hour)
		e.Note = strings.Repeat(id, backend.MaxNote/len(id))
		enlist(t, s, candidate("e", id, time.Millisecond)) // a repeat replaces
		enlist(t, s, e)
		want = append(want, e)
	}
	enlist(t, client(t, srv.URL(), "prefix", "other"), candidate("e", "of another prefix", time.Hour))
	slices.SortFunc(want, func(a, b backend.Entry) int { return strings.Compare(a.Candidate.ID, b.Candidate.ID) })
	if got := must[[]backend.Entry](t)(inner(t, s).Candidates(deadline(t, ample), "e")); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for _, election := range []string{"e", "nobody knows"} {
		if err := inner(t, s).Delist(deadline(t, ample), election, "a"); err != nil {
			t.Error(err)
		}
	}
	if ids := listed(t, s, "e"); slices.Contains(ids, "a") || len(ids) != len(want)-1 {
		t.Errorf("after Delist: %q", ids)
	}
	if n := scan[int](t, admin, "SELECT count(*) FROM tenure_lease"); n != 0 {
		t.Errorf("a roster made %d records", n)
	}
}

// An entry ends with its TTL by the database's clock; one that would last longer than its TTL is from before a step back of it. What has ended is removed: in its own election by each repeat, and everywhere
// by each store's first call.
func TestRosterOfTheDead(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	enlist(t, s, candidate("e", "lives", time.Hour))
	enlist(t, s, candidate("e", "steps back", time.Minute))
	enlist(t, s, candidate("e", "dies", time.Hour))
	enlist(t, s, candidate("unused", "dies", time.Hour))
	exec(t, admin, "UPDATE tenure_roster SET listed_until = listed_until + interval '1 hour' WHERE candidate = 'steps back'")
	exec(t, admin, "UPDATE tenure_roster SET listed_until = listed_until - interval '1 hour' WHERE candidate = 'dies'")
	if e, unused := listed(t, s, "e"), listed(t, s, "unused"); !slices.Equal(e, []string{"lives"}) || len(unused) != 0 {
		t.Errorf("listed are %q and %q", e, unused)
	}
	rows := func() int { return scan[int](t, admin, "SELECT count(*) FROM tenure_roster") }
	if n := rows(); n != 4 {
		t.Errorf("%d rows before the repeat", n)
	}
	enlist(t, s, candidate("e", "lives", time.Hour))
	if n := rows(); n != 2 {
		t.Errorf("%d rows after the repeat", n)
	}
	listed(t, client(t, srv.URL()), "e")
	if n := rows(); n != 1 {
		t.Errorf("%d rows after another store's first call", n)
	}
}

// After an outage all entries have ended, and all candidates enlist at once, each of which removes the others' rows: none waits for another in a circle.
func TestRosterAfterAnOutage(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL(), "pool", "10", "timeout", "20s")
	admin := raw(t, srv.URL())
	for range 10 {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if err := inner(t, s).Enlist(deadline(t, ample), candidate("e", fmt.Sprint("c", i), time.Hour)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := len(listed(t, s, "e")); n != 20 {
			t.Errorf("%d are listed", n)
		}
		exec(t, admin, "UPDATE tenure_roster SET listed_until = 'epoch'")
	}
}

// A database of an earlier release has no roster. A role that may make one does; another is told, and leads as ever.
func TestRosterIsMissing(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	role := policed(t, srv)
	admin := raw(t, srv.URL())
	exec(t, admin, "DROP TABLE tenure_roster; DELETE FROM tenure_schema WHERE part = 'roster'")
	s := client(t, role)
	lead := func() {
		t.Helper()
		l := acquire(t, s, claim("e", "a", time.Minute))
		renew(t, s, l)
		release(t, s, l)
	}
	for range 2 {
		lead()
		_, err := inner(t, s).Candidates(deadline(t, ample), "e")
		class(t, "candidates without a roster", err, backend.Denied)
		for _, word := range []string{"tenure_roster", "postgres.Migrate", "leases don't need"} {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%v doesn't name %s", err, word)
			}
		}
		class(t, "enlist without a roster", inner(t, s).Enlist(deadline(t, ample), candidate("e", "a", time.Hour)), backend.Denied)
	}
	if err := Migrate(deadline(t, ample), inner(t, client(t, srv.URL())).pool, Options{}); err != nil {
		t.Fatal(err)
	}
	_, err := inner(t, s).Candidates(deadline(t, ample), "e")
	class(t, "candidates without grants", err, backend.Denied)
	exec(t, admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON tenure_roster TO elector")
	enlist(t, s, candidate("e", "a", time.Hour))
	lead()
	exec(t, admin, "DROP TABLE tenure_roster; DELETE FROM tenure_schema WHERE part = 'roster'")
	_, err = inner(t, s).Candidates(deadline(t, ample), "e")
	class(t, "candidates of a roster that was removed", err, backend.Unknown)
	lead()
	owner := client(t, srv.URL())
	enlist(t, owner, candidate("e", "b", time.Hour))
	exec(t, admin, "UPDATE tenure_schema SET version = 2 WHERE part = 'roster'")
	later := client(t, srv.URL())
	if err := inner(t, later).Enlist(deadline(t, ample), candidate("e", "b", time.Hour)); !errors.Is(err, backend.ErrVersion) {
		t.Errorf("a later roster: got %v, want %v", err, backend.ErrVersion)
	}
	acquire(t, later, claim("e", "b", time.Minute))
	u := must[*url.URL](t)(url.Parse(role))
	if strings.Contains(fmt.Sprint(err), u.User.String()) {
		t.Error("an error shows the password")
	}
}
