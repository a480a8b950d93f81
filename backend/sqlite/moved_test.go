package sqlite_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
}

// A leader must not go on in a file that nobody else can find any more.
func TestLeaderOfARemovedFileLearnsOfIt(t *testing.T) {
	t.Parallel()
	for name, suffixes := range map[string][]string{"all": {"", "-wal", "-shm"}, "file": {""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			a := open(t, path)
			old := acquire(t, a, claim("e", "a", long))
			for _, suffix := range suffixes {
				remove(t, path+suffix)
			}
			b := start(t, "candidate", path, "e", long.String())
			if len(suffixes) > 1 {
				b.expect("token") // the old leader sleeps, and learns of it afterwards
			}
			eventually(t, "the old leader learns of it", func() bool {
				_, err := a.Renew(t.Context(), old)
				if err == nil {
					t.Error("the lease was renewed in a file that is gone")
				}
				return backend.ClassOf(err) == backend.NotHeld
			})
			if len(suffixes) == 1 {
				b.expect("token") // it had to wait until the log of the old file was left
			}
			_, err := a.Acquire(t.Context(), claim("e", "a", long))
			want(t, "acquire beside the new leader", err, backend.Held)
			b.tell("renew")
			b.expect("renew ok")
			b.tell("release")
			b.expect("release ok")
			if l := acquire(t, a, claim("e", "a", long)); l.Token <= old.Token {
				t.Errorf("token %d after %d", l.Token, old.Token)
			}
		})
	}
}

// Whoever removes the log takes committed rows away. All that is promised is that there is one truth afterwards.
func TestRemovedLogMakesNoSecondLeader(t *testing.T) {
	t.Parallel()
	for name, suffixes := range map[string][]string{"log": {"-wal"}, "index": {"-shm"}, "both": {"-wal", "-shm"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			a := open(t, path)
			old := acquire(t, a, claim("e", "a", long))
			for _, suffix := range suffixes {
				remove(t, path+suffix)
			}
			eventually(t, "the store works again", func() bool {
				_, err := a.Get(t.Context(), "e")
				return err == nil
			})
			b := open(t, path)
			l, err := b.Acquire(t.Context(), claim("e", "b", long))
			_, errA := a.Renew(t.Context(), old)
			if err == nil {
				_, err = b.Renew(t.Context(), l)
			}
			if (err == nil) == (errA == nil) {
				t.Errorf("renewals: %v and %v; want one leader", errA, err)
			}
		})
	}
}

// SQLite shares the log's index between all connections of a process. One connection that stays on the removed index, such as the poller's, would take all new ones there: the process
// would elect beside the others for ever.
func TestRemovedIndexIsLeftByTheWholeProcess(t *testing.T) {
	t.Parallel()
	for _, idle := range []string{"a watch", "another store"} {
		t.Run(idle, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			a := open(t, path)
			acquire(t, a, claim("e", "a", long))
			if idle == "a watch" {
				polled(t, a, path)
			} else {
				open(t, path)
			}
			remove(t, path+"-shm")
			b := start(t, "candidate", path, "f", long.String())
			b.expect("token")
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			l, err := a.Acquire(ctx, claim("f", "a", long))
			if err == nil {
				t.Errorf("token %d beside the leader of another process", l.Token)
			}
			if idle == "a watch" {
				want(t, "acquire beside the leader", err, backend.Held)
			}
			b.tell("renew")
			b.expect("renew ok")
		})
	}
}

// polled lets a store watch, and returns when its poller has looked.
func polled(t *testing.T, s *sqlite.Store, path string) {
	t.Helper()
	watch, err := s.Watch(t.Context(), "polled")
	if err != nil {
		t.Fatal(err)
	}
	start(t, "candidate", path, "polled", long.String()).expect("token")
	receive(t, watch)
}

// A file that is put in the place of the old one, as when a backup is restored.
func TestRestoredFileIsFollowed(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	a := open(t, path)
	first := acquire(t, a, claim("e", "a", long))
	alter(t, path, "VACUUM INTO ?", path+".backup")
	if err := a.Release(t.Context(), first, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
	second := acquire(t, a, claim("e", "b", long))
	watch, err := a.Watch(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".backup", path); err != nil {
		t.Fatal(err)
	}
	remove(t, path+"-wal", path+"-shm")
	receive(t, watch)
	_, err = a.Renew(t.Context(), second)
	want(t, "renewal of a lease that the backup doesn't have", err, backend.NotHeld)
	if _, err := a.Renew(t.Context(), first); err != nil {
		t.Errorf("renewal of the lease in the backup: %v", err)
	}
	if err := a.Release(t.Context(), first, backend.Handover{}); err != nil {
		t.Fatal(err)
	}
	if third := acquire(t, a, claim("e", "c", long)); third.Token <= second.Token {
		t.Errorf("token %d after %d", third.Token, second.Token)
	}
}

// S7: nobody knows what was missed between the two files.
func TestReplacedFileWakesAlsoIfItLooksTheSame(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	l := acquire(t, s, claim("e", "a", long))
	watch, err := s.Watch(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	// After this wake-up, the store has looked at the old file.
	other := start(t, "candidate", path, "f", long.String())
	watchOther, err := s.Watch(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	other.expect("token")
	other.tell("release")
	other.expect("release ok")
	receive(t, watchOther)
	other.kill()
	alter(t, path, "VACUUM INTO ?", path+".copy")
	if err := os.Rename(path+".copy", path); err != nil {
		t.Fatal(err)
	}
	remove(t, path+"-wal", path+"-shm")
	receive(t, watch)
	if _, err := s.Renew(t.Context(), l); err != nil {
		t.Errorf("renewal: %v", err)
	}
}

func TestTokensGrowOverTheLossOfTheFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	last := int64(0)
	for range 3 {
		s := open(t, path)
		l := acquire(t, s, claim("e", "a", long))
		if l.Token <= last {
			t.Errorf("token %d after %d", l.Token, last)
		}
		last = l.Token
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		remove(t, path)
	}
}

func TestCloseLeavesNoLogBehind(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	acquire(t, s, claim("e", "a", long))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); err == nil {
			t.Errorf("%s is still there", suffix)
		}
	}
}
