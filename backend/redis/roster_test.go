package redis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// candidate is an entry of a roster.
func candidate(election, id string, ttl time.Duration) backend.Entry {
	return backend.Entry{Election: election, Candidate: backend.Candidate{ID: id, Description: backend.Description{Host: "host of " + id}}, Note: "note of " + id, TTL: ttl}
}

// A roster keeps each entry as it is, whatever its names hold, and lists it for its TTL.
func TestRoster(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	var want []backend.Entry
	for _, id := range awkward {
		e := candidate("e", id, time.Hour)
		e.Note = strings.Repeat(id, backend.MaxNote/len(id))
		enlist(t, s, candidate("e", id, time.Millisecond)) // a repeat replaces
		enlist(t, s, e)
		want = append(want, e)
	}
	slices.SortFunc(want, func(a, b backend.Entry) int { return strings.Compare(a.Candidate.ID, b.Candidate.ID) })
	if got := must[[]backend.Entry](t)(inner(t, s).Candidates(deadline(t, ample), "e")); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if err := inner(t, s).Delist(deadline(t, ample), "e", "a"); err != nil {
		t.Error(err)
	}
	if err := inner(t, s).Delist(deadline(t, ample), "other", "a"); err != nil {
		t.Error(err)
	}
	if ids := listed(t, s, "e"); slices.Contains(ids, "a") || len(ids) != len(want)-1 {
		t.Errorf("after Delist: %q", ids)
	}
	if r := get(t, s, "e"); r.Version != 0 {
		t.Errorf("a roster made the record %+v", r)
	}
	if n := must[int64](t)(server.DBSize(deadline(t, ample)).Result()); n != 1 {
		t.Errorf("%d keys for one roster", n)
	}
}

// Entries of the dead are dropped by who reads, and by who enlists; a roster that nobody reads goes by itself.
func TestRosterOfTheDead(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	key := inner(t, s).names.roster("e")
	size := func() int64 { return must[int64](t)(server.HLen(deadline(t, ample), key).Result()) }
	for i := range 400 {
		enlist(t, s, candidate("e", fmt.Sprint("dead", i), time.Millisecond))
	}
	if n := size(); n > 100 {
		t.Errorf("%d entries of the dead", n)
	}
	enlist(t, s, candidate("e", "lives", time.Hour))
	enlist(t, s, candidate("e", "short", time.Millisecond)) // doesn't end the key of the others
	eventually(t, "the dead are gone", func() bool { return slices.Equal(listed(t, s, "e"), []string{"lives"}) && size() == 1 })
	left := must[time.Duration](t)(server.PTTL(deadline(t, ample), key).Result())
	if left < 59*time.Minute || left > time.Hour+2*time.Second {
		t.Errorf("the roster goes in %v", left)
	}
	enlist(t, s, candidate("nobody", "a", 100*time.Millisecond))
	eventually(t, "the roster is gone", func() bool {
		return must[int64](t)(server.Exists(deadline(t, ample), inner(t, s).names.roster("nobody")).Result()) == 0
	})
}

// An entry counts by the server's clock: one that would last longer than its TTL is from before a step back, and is over.
func TestRosterAfterAStepBack(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	enlist(t, s, candidate("e", "a", time.Minute))
	key := inner(t, s).names.roster("e")
	value := must[string](t)(server.HGet(deadline(t, ample), key, "a").Result())
	_, rest, _ := strings.Cut(value, " ")
	later := fmt.Sprint(time.Now().Add(time.Hour).UnixMicro()) + " " + rest
	if err := server.HSet(deadline(t, ample), key, "a", later, "foreign", "no entry").Err(); err != nil {
		t.Fatal(err)
	}
	if ids := listed(t, s, "e"); len(ids) != 0 {
		t.Errorf("listed: %q", ids)
	}
	if left := must[[]string](t)(server.HKeys(deadline(t, ample), key).Result()); !slices.Equal(left, []string{"foreign"}) {
		t.Errorf("left are %q; what others wrote isn't ours to remove", left)
	}
}

// A key that holds something else is refused.
func TestForeignRoster(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	if err := server.Set(deadline(t, ample), inner(t, s).names.roster("e"), "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	_, err := inner(t, s).Candidates(deadline(t, ample), "e")
	for _, err := range []error{err, inner(t, s).Enlist(deadline(t, ample), candidate("e", "a", time.Minute)), inner(t, s).Delist(deadline(t, ample), "e", "a")} {
		if !errors.Is(err, backend.ErrInvalid) {
			t.Errorf("got %v, want invalid", err)
		}
	}
}
