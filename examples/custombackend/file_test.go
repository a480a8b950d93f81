package custombackend

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

func opened(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// The suite can't hold a store's lock for it, so this is a test of our own (S4). A machine that is too slow to begin before the short lease has ended tries again.
func TestARenewalThatWaitedPastTheLeasesEndIsRefused(t *testing.T) {
	s := opened(t)
	for n := 0; ; n++ {
		c := claim(n)
		c.TTL = time.Second
		l, err := s.Acquire(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		began := false
		err = s.locked(t.Context(), election, func(e entry, now time.Time) error {
			if began = e.live(now); began {
				go func() { _, err := s.Renew(t.Context(), l); waiting <- err }()
				<-time.After(e.Expires.Sub(now))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !began {
			continue
		}
		if err := <-waiting; !errors.Is(err, backend.ErrNotHeld) {
			t.Errorf("got %v, want not held", err)
		}
		return
	}
}

func TestAReaderNeverSeesHalfAFile(t *testing.T) {
	s := opened(t)
	l, err := s.Acquire(t.Context(), claim(0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	written := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, err := s.Renew(context.WithoutCancel(ctx), l); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for range 5000 {
		if e, err := read(s.file(election), election); err != nil || e.Token != l.Token {
			t.Errorf("read %+v, %v", e, err)
			break
		}
	}
	cancel()
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// Whoever cleans up old files finds the lock file first: it never changes. Who waits for the removed one must not believe that it locks anything.
func TestALockFileThatWasRemovedLocksNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	unlock, err := tryLock(path)
	if unlock == nil {
		t.Fatalf("no lock: %v", err)
	}
	defer unlock()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !isAt(f, path) {
		t.Error("the file is not at its path")
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if isAt(f, path) {
		t.Error("a removed file is taken for the one at its path")
	}
}

func TestAnUnreadableFileIsNoEmptyElection(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.WriteFile(s.file(election), nil, 0o600); err != nil { // as after a crash without fsync
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), claim(0)); err == nil || backend.ClassOf(err) != backend.Unknown {
		t.Errorf("got %v, want an error of unknown outcome", err)
	}
}

func TestURL(t *testing.T) {
	s, err := backend.Open(t.Context(), "folder://"+filepath.Join(t.TempDir(), "new"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"folder:", "folder://host/path", "folder:x?mode=1"} {
		if _, err := backend.Open(t.Context(), bad); !errors.Is(err, backend.ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
