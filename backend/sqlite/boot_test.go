package sqlite_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/testenv"
)

// DX19: the wall clock has no part in a lease's end.
func TestExpiryIsOnTheBootClock(t *testing.T) {
	t.Parallel()
	before, ok := clock.Boot()
	if !ok {
		testenv.Skip(t, "this system has no clock that counts suspend")
	}
	path := newPath(t)
	acquire(t, open(t, path), claim("e", "a", long))
	after, _ := clock.Boot()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var expires int64
	if err := db.QueryRowContext(t.Context(), "SELECT expires_ns FROM tenure_lease").Scan(&expires); err != nil {
		t.Fatal(err)
	}
	if granted := expires - int64(long); granted < before || granted > after {
		t.Errorf("granted at %d, want between %d and %d of the boot clock", granted, before, after)
	}
}

// The host was restarted: the old lease's times say nothing, whatever they are.
func TestLeaseOfAnotherBootEndsAfterOneObservedTTL(t *testing.T) {
	t.Parallel()
	for name, expires := range map[string]int64{"long ago": 1, "far ahead": 1 << 62} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			old := acquire(t, open(t, path), claim("e", "a", short))
			alter(t, path, "UPDATE tenure_lease SET boot = 'another', expires_ns = ?", expires)

			s := open(t, path)
			began := time.Now()
			r, err := s.Get(t.Context(), "e")
			if err != nil || r.Holder.ID != "a" || r.Mode != backend.Observed || r.Remaining > short || r.Remaining <= 0 {
				t.Fatalf("record %+v, %v; want it held for at most %v", r, err, short)
			}
			var l backend.Lease
			var asked time.Time
			eventually(t, "the lease is free", func() bool {
				asked = time.Now()
				l, err = s.Acquire(t.Context(), claim("e", "b", short))
				return err == nil
			})
			if took := time.Since(began); took < short {
				t.Errorf("taken over after %v, before a TTL of %v was observed", took, short)
			}
			if l.Token <= old.Token {
				t.Errorf("token %d after %d", l.Token, old.Token)
			}
			if r, err := s.Get(t.Context(), "e"); time.Since(asked) < short && (err != nil || r.Mode != backend.Native || r.Holder.ID != "b") { // else this machine was too slow to tell
				t.Errorf("record %+v, %v", r, err)
			}
		})
	}
}

// Somebody whose clock has another name is alive and renews: no take-over.
func TestObservationBeginsAnewWithEachChange(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	acquire(t, open(t, path), claim("e", "a", short))
	alter(t, path, "UPDATE tenure_lease SET boot = 'another'")
	s := open(t, path)
	last := time.Now()
	for range 4 {
		eventually(t, "half a TTL has passed", func() bool {
			_, err := s.Acquire(t.Context(), claim("e", "b", short))
			if time.Since(last) < short { // else this machine was too slow to tell
				want(t, "acquire", err, backend.Held)
			}
			return time.Since(last) > short/2
		})
		last = time.Now()
		alter(t, path, "UPDATE tenure_lease SET renewals = renewals + 1")
	}
}

// A released election of another boot is free at once, a reserved one after the holder's TTL.
func TestFreeRowOfAnotherBoot(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	for election, h := range map[string]backend.Handover{"free": {}, "reserved": {To: "x", For: short}} {
		eventually(t, "a release before the short lease has ended", func() bool {
			err := s.Release(t.Context(), acquire(t, s, claim(election, "a", short)), h)
			if err != nil {
				want(t, "release", err, backend.NotHeld)
			}
			return err == nil
		})
	}
	alter(t, path, "UPDATE tenure_lease SET boot = 'another', reserved_ns = min(reserved_ns, 1)")
	s = open(t, path)
	acquire(t, s, claim("free", "b", short))
	_, err := s.Acquire(t.Context(), claim("reserved", "b", short))
	want(t, "acquire of a reserved election", err, backend.Held)
	eventually(t, "the reservation is over", func() bool {
		_, err := s.Acquire(t.Context(), claim("reserved", "b", short))
		return err == nil
	})
}
