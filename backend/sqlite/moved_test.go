package sqlite_test

import (
	"os"
	"testing"

	"github.com/tenure-go/tenure/backend"
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
	<-watch
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
