package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// All names are listed in the order of their bytes, also where the column's order is another because of zero bytes, from any name on.
func TestElections(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	want := slices.Clone(awkward)
	for i := range 30 {
		want = append(want, fmt.Sprint("e", i))
	}
	slices.Sort(want)
	for _, name := range want {
		if err := inner(t, s).Raise(deadline(t, ample), name, 1); err != nil {
			t.Fatal(err)
		}
	}
	acquire(t, client(t, srv.URL(), "prefix", "other"), claim("of another prefix", "a", time.Minute))
	enlist(t, s, candidate("roster only", "a", time.Hour))
	exec(t, admin, "INSERT INTO tenure_lease (prefix, election) VALUES ('tenure', 'no record')")
	for _, limit := range []int{1, 2, 7, len(want), 1 << 62} {
		for _, after := range append([]string{"", "a\x00", "aB\x00\x00", "\x00\x00", "\x00a", `a\`, "zz"}, want...) {
			at, found := slices.BinarySearch(want, after)
			if found {
				at++
			}
			rest := want[at:]
			got := must[[]string](t)(inner(t, s).Elections(deadline(t, ample), after, limit))
			if !slices.Equal(got, rest[:min(limit, len(rest))]) {
				t.Errorf("%d after %q: got %q\nwant %q", limit, after, got, rest[:min(limit, len(rest))])
			}
		}
	}
}

func forget(t *testing.T, s backend.LeaseStore, r backend.Record) error {
	t.Helper()
	return inner(t, s).Forget(deadline(t, ample), r)
}

// Forget removes what was read and nothing else, and tokens grow on.
func TestForget(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	class(t, "forgetting what isn't there", forget(t, s, backend.Record{Election: "e"}), backend.OK)
	l := acquire(t, s, claim("e", "a", time.Minute))
	early := get(t, s, "e")
	class(t, "forgetting what is held", forget(t, s, early), backend.Held)
	if err := s.Release(deadline(t, ample), l, backend.Handover{To: "b", For: l.TTL}); err != nil {
		t.Fatal(err)
	}
	class(t, "forgetting what is reserved", forget(t, s, get(t, s, "e")), backend.Held)
	second := acquire(t, s, claim("e", "b", time.Minute))
	release(t, s, second)
	free := get(t, s, "e")
	class(t, "forgetting an earlier record", forget(t, s, early), backend.Outdated)
	other := free
	other.Attempt = draw()
	class(t, "forgetting another attempt's record", forget(t, s, other), backend.Outdated)
	other = free
	other.Counter++
	class(t, "forgetting another counter's record", forget(t, s, other), backend.Outdated)
	exec(t, admin, "UPDATE tenure_lease SET moved_to = 'elsewhere'")
	class(t, "forgetting what was moved", forget(t, s, free), backend.Moved)
	exec(t, admin, "UPDATE tenure_lease SET moved_to = '', version = 9")
	if err := forget(t, s, free); !errors.Is(err, backend.ErrVersion) {
		t.Errorf("forgetting a later format: %v", err)
	}
	exec(t, admin, "UPDATE tenure_lease SET version = 1")
	if err := forget(t, s, free); err != nil {
		t.Fatal(err)
	}
	class(t, "forgetting twice", forget(t, s, free), backend.OK)
	if n := scan[int](t, admin, "SELECT count(*) FROM tenure_lease"); n != 0 {
		t.Error("the row is there")
	}
	if next := acquire(t, s, claim("e", "a", time.Minute)); next.Token <= second.Token {
		t.Errorf("token %d after %d", next.Token, second.Token)
	}
}

// The statement judges by itself what may have changed since the look before it: nothing is removed then.
func TestForgetJudgesTheLockedRow(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, admin := client(t, srv.URL()), raw(t, srv.URL())
	release(t, s, acquire(t, s, claim("e", "a", time.Minute)))
	in, r := inner(t, s), get(t, s, "e")
	remove := func(r backend.Record, known string) int {
		st := statement{in.prepared.Load().forget, in.key("e", strconv.FormatInt(r.Counter, 10), r.Attempt.String(), known, "", "")}
		return len(must[[]rows](t)(in.write(deadline(t, ample), st))[0])
	}
	for what, change := range map[string]string{
		"held":                         "holder = 'b', lease_until = clock_timestamp() + interval '1 hour'",
		"held, observed":               "holder = 'b', mode = 'observed'",
		"reserved":                     "reserved_until = clock_timestamp() + interval '1 hour'",
		"moved":                        "moved_to = 'elsewhere'",
		"of another epoch":             "server_epoch = 'earlier'",
		"of a later format":            "version = 2",
		"of another counter":           "counter = counter - 1",
		"of another attempt":           "attempt = repeat('0', 31) || '1'",
		"of a counter above the clock": "counter = counter + 60000000",
	} {
		exec(t, admin, "BEGIN; CREATE TEMP TABLE before AS SELECT * FROM tenure_lease; COMMIT")
		exec(t, admin, "UPDATE tenure_lease SET "+change)
		judged := r
		if strings.Contains(what, "above the clock") {
			judged.Counter += 60000000
		}
		if remove(judged, "1") != 0 {
			t.Errorf("a row that is %s was removed", what)
		}
		exec(t, admin, "TRUNCATE tenure_lease; INSERT INTO tenure_lease SELECT * FROM before; DROP TABLE before")
	}
	if remove(r, "1") != 1 {
		t.Error("the row as it was read was not removed")
	}
}

// S2 over Forget: a counter that the server's clock has not passed, because it was raised or the clock stands behind, can't be forgotten.
func TestForgetNeedsTheClock(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	release(t, s, acquire(t, s, claim("e", "a", time.Minute)))
	soon := time.Now().Add(2 * time.Second).UnixMicro()
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
	if l := acquire(t, s, claim("e", "a", time.Minute)); l.Token <= soon {
		t.Errorf("token %d after %d", l.Token, soon)
	}
}

// DX18: what a crash of the server may have hidden outlives Forget. A row of another epoch stays until it was watched for the longer of its TTL and Forget's own; a sign of life begins that anew.
func TestForgetKeepsTheQuarantine(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s := client(t, srv.URL())
	const short, long = 300 * time.Millisecond, 2 * time.Second
	release(t, s, acquire(t, s, claim("short", "a", short)))
	release(t, s, acquire(t, s, claim("long", "a", long)))
	acquire(t, s, claim("expired", "a", short))
	led := acquire(t, s, claim("led", "a", 10*time.Minute))
	eventually(t, "a lease is over", func() bool { return !get(t, s, "expired").Held() })
	srv.Kill()
	srv.Start()
	settled(t, s)
	for name, wait := range map[string]time.Duration{"short": time.Second, "long": long, "expired": time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fresh := client(t, srv.URL())
			if inner(t, fresh).calm != calm {
				t.Errorf("a store is calm for %v", inner(t, fresh).calm)
			}
			inner(t, fresh).calm = time.Second
			began := time.Now()
			r := get(t, fresh, name)
			err := forget(t, fresh, r)
			held, ok := errors.AsType[*backend.HeldError](err)
			if !ok || held.Record.Wait("b") <= 0 || held.Record.Wait("b") > wait {
				t.Fatalf("got %v, want held with a wait of up to %v", err, wait)
			}
			eventually(t, name+" is forgotten", func() bool {
				err := forget(t, fresh, r)
				if err != nil && !errors.Is(err, backend.ErrHeld) {
					t.Fatal(err)
				}
				return err == nil
			})
			if took := time.Since(began); took < wait {
				t.Errorf("forgotten after %v, want %v", took, wait)
			}
			acquire(t, fresh, claim(name, "b", short))
		})
	}
	renew(t, s, led)
	release(t, s, led)
	class(t, "forgetting what its holder has released since", forget(t, s, get(t, s, "led")), backend.OK)
}

// A transaction that is fenced by the last lease holds the row: Forget waits for it, within its context.
func TestForgetWaitsForFences(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, c := client(t, srv.URL()), raw(t, srv.URL())
	l := acquire(t, s, claim("e", "a", 500*time.Millisecond))
	tx := begin(t, c, pgx.ReadCommitted)
	if err := inner(t, s).Fence(deadline(t, ample), tx, l); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(deadline(t, ample), "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lease is over", func() bool { return !get(t, s, "e").Held() })
	r := get(t, s, "e")
	class(t, "forgetting beside a fence", inner(t, s).Forget(deadline(t, 300*time.Millisecond), r), backend.Unknown)
	done := make(chan error, 1)
	ctx := deadline(t, ample)
	go func() { done <- inner(t, s).Forget(ctx, r) }()
	waiting(t, raw(t, srv.URL()), 1)
	if err := tx.Commit(deadline(t, ample)); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// An observed lease is free for who has seen its holder silent, and held for others.
func TestForgetObserved(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	s, challenger := client(t, srv.URL(), "expiry", "observed"), client(t, srv.URL())
	l := acquire(t, s, claim("e", "a", 500*time.Millisecond))
	free := get(t, challenger, "e")
	class(t, "forgetting at the first look", forget(t, challenger, free), backend.Held)
	eventually(t, "the holder was silent", func() bool { return !get(t, challenger, "e").Held() })
	renew(t, s, l)
	class(t, "forgetting what was renewed meanwhile", forget(t, challenger, free), backend.Held)
	eventually(t, "it is forgotten", func() bool { return forget(t, challenger, free) == nil })
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renewing what was forgotten", err, backend.NotHeld)
}
