package redis

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// pages lists all elections, limit at a time.
func pages(t *testing.T, s backend.LeaseStore, limit int) (all []string) {
	t.Helper()
	after := ""
	for {
		names := must[[]string](t)(inner(t, s).Elections(deadline(t, ample), after, limit))
		all = append(all, names...)
		if len(names) > limit {
			t.Fatalf("%d names for a limit of %d", len(names), limit)
		}
		if len(names) < limit {
			return all
		}
		if names[0] <= after {
			t.Fatalf("the page after %q begins with %q", after, names[0])
		}
		after = names[len(names)-1]
	}
}

// checkElections has every awkward name listed, and nothing else that lies beside it.
func checkElections(t *testing.T, s, other backend.LeaseStore, plant func(key string)) {
	t.Helper()
	want := slices.Clone(awkward)
	for i := range 40 {
		want = append(want, fmt.Sprint("e", i))
	}
	for _, name := range want {
		acquire(t, s, claim(name, "a"))
	}
	enlist(t, s, candidate("roster only", "a", time.Hour))
	acquire(t, other, claim("of another prefix", "a"))
	tag := strings.TrimSuffix(inner(t, s).names.tag(""), "}")
	for _, key := range []string{tag + "}:lease", tag + "%7b}:lease", tag + "a b}:lease", tag + "x}:y}:lease", tag + "%ff}:lease", tag + strings.Repeat("x", 257) + "}:lease", "x" + tag + "x}:lease"} {
		plant(key)
	}
	slices.Sort(want)
	for _, limit := range []int{1, 7, len(want), 1 << 62} {
		if got := pages(t, s, limit); !slices.Equal(got, want) {
			t.Errorf("%d at a time: got %q\nwant %q", limit, got, want)
		}
	}
}

func TestElections(t *testing.T) {
	srv := testenv.Redis(t)
	server := raw(t, srv.URL())
	plant := func(key string) {
		if err := server.HSet(deadline(t, ample), key, "version", "1").Err(); err != nil {
			t.Fatal(err)
		}
	}
	s := client(t, srv.URL(), "")
	if err := server.Set(deadline(t, ample), inner(t, s).names.key("a string"), "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	checkElections(t, s, client(t, srv.URL(), "prefix=tenure2"), plant)
}

func TestElectionsOfACluster(t *testing.T) {
	t.Parallel()
	set := testenv.RedisCluster(t)
	s := client(t, set.URL(), "")
	checkElections(t, s, client(t, set.URL(), "prefix=tenure2"), func(key string) {
		if err := inner(t, s).client.HSet(deadline(t, ample), key, "version", "1").Err(); err != nil {
			t.Fatal(err)
		}
	})
	hidden := must[*Store](t)(New(struct{ goredis.UniversalClient }{inner(t, s).client}, Options{}))
	defer hidden.Close()
	if _, err := hidden.Elections(deadline(t, ample), "", 1); !errors.Is(err, backend.ErrInvalid) {
		t.Errorf("a client that hides its servers: got %v, want invalid", err)
	}
	set.Members()[1].Kill()
	_, err := inner(t, s).Elections(deadline(t, time.Second), "", 1)
	class(t, "a list without the names of one node", err, backend.Unknown)
}

// More names than one step of a scan tells, of which the first few are wanted.
func TestElectionsAreTrimmed(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	pipe := server.Pipeline()
	for i := range 9000 {
		pipe.HSet(deadline(t, ample), inner(t, s).names.key(fmt.Sprintf("e%05d", i)), "version", "1")
	}
	if _, err := pipe.Exec(deadline(t, ample)); err != nil {
		t.Fatal(err)
	}
	want := []string{"e04001", "e04002", "e04003"}
	if got := must[[]string](t)(inner(t, s).Elections(deadline(t, ample), "e04000", 3)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if all := pages(t, s, 3000); len(all) != 9000 || !slices.IsSorted(all) {
		t.Errorf("%d names in pages", len(all))
	}
}

func forget(t *testing.T, s backend.LeaseStore, r backend.Record) error {
	t.Helper()
	return inner(t, s).Forget(deadline(t, ample), r)
}

// Forget removes what was read and nothing else, and tokens grow on.
func TestForget(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	key := inner(t, s).names.key("e")
	class(t, "forgetting what isn't there", forget(t, s, backend.Record{Election: "e"}), backend.OK)
	l := acquire(t, s, claim("e", "a"))
	class(t, "forgetting what is held", forget(t, s, get(t, s, "e")), backend.Held)
	early := get(t, s, "e")
	if err := s.Release(deadline(t, ample), l, backend.Handover{To: "b", For: l.TTL}); err != nil {
		t.Fatal(err)
	}
	class(t, "forgetting what is reserved", forget(t, s, get(t, s, "e")), backend.Held)
	second := acquire(t, s, claim("e", "b"))
	release(t, s, second)
	free := get(t, s, "e")
	class(t, "forgetting an earlier record", forget(t, s, early), backend.Outdated)
	other := free
	other.Attempt = draw()
	class(t, "forgetting another attempt's record", forget(t, s, other), backend.Outdated)
	other = free
	other.Counter++
	class(t, "forgetting another counter's record", forget(t, s, other), backend.Outdated)
	server.HSet(deadline(t, ample), key, "moved_to", "elsewhere")
	class(t, "forgetting what was moved", forget(t, s, free), backend.Moved)
	server.HSet(deadline(t, ample), key, "moved_to", "", "version", "9")
	if err := forget(t, s, free); !errors.Is(err, backend.ErrVersion) {
		t.Errorf("forgetting a later format: %v", err)
	}
	server.HSet(deadline(t, ample), key, "version", "1")
	if err := forget(t, s, free); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, "e"); r != (backend.Record{Election: "e", Mode: r.Mode}) {
		t.Errorf("forgotten: %+v", r)
	}
	class(t, "forgetting twice", forget(t, s, free), backend.OK)
	if n := must[int64](t)(server.Exists(deadline(t, ample), key).Result()); n != 0 {
		t.Error("the key is there")
	}
	if next := acquire(t, s, claim("e", "a")); next.Token <= second.Token {
		t.Errorf("token %d after %d", next.Token, second.Token)
	}
}

// S2 over Forget: a counter that the server's clock has not passed, because it was raised or the clock stands behind, can't be forgotten.
func TestForgetNeedsTheClock(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	release(t, s, acquire(t, s, claim("e", "a")))
	soon := time.Now().Add(time.Second).UnixMicro()
	if err := inner(t, s).Raise(deadline(t, ample), "e", soon); err != nil {
		t.Fatal(err)
	}
	raised := get(t, s, "e")
	err := forget(t, s, raised)
	class(t, "forgetting a counter ahead of the clock", err, backend.Invalid)
	if err == nil || !strings.Contains(err.Error(), strconv.FormatInt(soon, 10)) || !strings.Contains(err.Error(), "clock") {
		t.Errorf("%v doesn't tell why", err)
	}
	eventually(t, "the clock has passed the counter", func() bool { return forget(t, s, raised) == nil })
	if n := must[int64](t)(server.Exists(deadline(t, ample), inner(t, s).names.key("e")).Result()); n != 0 {
		t.Error("the key is there")
	}
	if l := acquire(t, s, claim("e", "a")); l.Token <= soon {
		t.Errorf("token %d after %d", l.Token, soon)
	}
}

// An observed lease is free for who has seen its holder silent, and held for others: none of them may be overtaken by Forget.
func TestForgetObserved(t *testing.T) {
	srv := testenv.Redis(t)
	s, challenger := client(t, srv.URL(), "expiry=observed"), client(t, srv.URL(), "")
	c := claim("e", "a")
	c.TTL = 300 * time.Millisecond
	l := acquire(t, s, c)
	free := get(t, challenger, "e")
	class(t, "forgetting at the first look", forget(t, challenger, free), backend.Held)
	eventually(t, "the holder was silent", func() bool { return !get(t, challenger, "e").Held() })
	renew(t, s, l)
	class(t, "forgetting what was renewed meanwhile", forget(t, challenger, free), backend.Held)
	began := time.Now()
	eventually(t, "it is forgotten", func() bool { return forget(t, challenger, free) == nil })
	if took := time.Since(began); took < c.TTL-100*time.Millisecond {
		t.Errorf("forgotten %v after a renewal", took)
	}
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renewing what was forgotten", err, backend.NotHeld)
}
