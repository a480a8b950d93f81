package sqlite_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

const touch = "UPDATE tenure_lease SET holder = 'half written', token = token + 1"

// S10: another process holds the write lock, frozen perhaps.
func TestCallsObeyTheirContextWhileTheFileIsLocked(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openBusy(t, path, 20*time.Second)
	l := acquire(t, s, claim("mine", "a", long))
	start(t, "lock", path, touch).expect("locked")
	calls := map[string]func(context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := s.Acquire(ctx, claim("e", "a", long)); return err },
		"renew":   func(ctx context.Context) error { _, err := s.Renew(ctx, l); return err },
		"release": func(ctx context.Context) error { return s.Release(ctx, l, backend.Handover{}) },
		"raise":   func(ctx context.Context) error { return s.Raise(ctx, "e", 5) },
	}
	for name, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		err := call(ctx)
		cancel()
		want(t, name, err, backend.Unknown)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the context's end", name, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s returned %v after its context's end", name, took-100*time.Millisecond)
		}
	}
	// Readers go on, and see nothing of what isn't committed.
	if r, err := s.Get(t.Context(), "mine"); err != nil || r.Holder.ID != "a" {
		t.Fatalf("get: %v, %v", r, err)
	}
	_, err := s.Acquire(t.Context(), claim("mine", "b", long))
	want(t, "acquire of a held election", err, backend.Held)
}

func TestBusyTimeOutSaysWhatToLookFor(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openBusy(t, path, 50*time.Millisecond)
	lock := start(t, "lock", path, touch)
	lock.expect("locked")
	_, err := s.Acquire(t.Context(), claim("e", "a", long))
	want(t, "acquire", err, backend.Unknown)
	if !strings.Contains(err.Error(), "frozen") {
		t.Errorf("the error %q doesn't say what may be wrong", err)
	}
	lock.tell("go on")
	lock.expect("unlocked")
	acquire(t, s, claim("e", "a", long))
}

// DX21: a renewal that waited for the lock past its lease's end must not revive it.
func TestRenewalThatWaitedPastTheLeaseRevivesNothing(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openBusy(t, path, 20*time.Second)
	l := acquire(t, s, claim("e", "a", 2*time.Second))
	lock := start(t, "lock", path, touch)
	lock.expect("locked")
	failed := make(chan error, 1)
	go func() { _, err := s.Renew(context.WithoutCancel(t.Context()), l); failed <- err }()
	eventually(t, "the renewal waits", func() bool { return sqlite.Calls(s) > 0 })
	eventually(t, "the lease has ended", func() bool {
		r, err := s.Get(t.Context(), "e")
		return err == nil && !r.Held()
	})
	lock.tell("go on")
	want(t, "renewal", <-failed, backend.NotHeld)
}

func TestProcessKilledInMidTransaction(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	l := acquire(t, s, claim("e", "a", long))
	for range 3 {
		p := start(t, "lock", path, touch)
		p.expect("locked")
		p.kill()
		if _, err := s.Renew(t.Context(), l); err != nil {
			t.Fatalf("renewal after the crash: %v", err)
		}
	}
	if r, err := s.Get(t.Context(), "e"); err != nil || r.Token != l.Token || r.Holder.ID != "a" {
		t.Fatalf("record %v, %v", r, err)
	}
}
