package sqlite_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

// writeFile makes a file with the given content.
func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenSaysWhatIsWrongWithTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.db")
	if err := open(t, newer).Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, newer, "UPDATE tenure_schema SET version = version + 1")
	dangling := filepath.Join(dir, "dangling.db")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, says string }{
		{dir, "is a folder"},
		{dir + "/", "names no file"},
		{"", "names no file"},
		{":memory:", "not the path of a file"},
		{"a\x00b", "not the path of a file"},
		{writeFile(t, filepath.Join(dir, "text.txt"), strings.Repeat("This is a text. ", 100)), "not a SQLite database"},
		{writeFile(t, filepath.Join(dir, "short.txt"), "hello"), "not a SQLite database"},
		{newer, "upgrade"},
		{os.DevNull, "not a regular file"},
		{dangling, "symbolic link"},
		{filepath.Join(newer, "below-a-file.db"), "not a directory"},
	} {
		refused(t, c.path, c.says)
	}
}

// refused fails the test unless the file is refused as invalid, with the given words.
func refused(t *testing.T, path, says string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		_ = s.Close()
		t.Errorf("Open(%q) succeeded", path)
		return
	}
	if !strings.Contains(err.Error(), says) || backend.ClassOf(err) != backend.Invalid {
		t.Errorf("Open(%q): %v (%v); want it invalid and to say %q", path, err, backend.ClassOf(err), says)
	}
}

func TestDatabaseOfAnotherProgramIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	alter(t, path, "CREATE TABLE customers (name TEXT)")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, path, "customers")
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
}

func TestURLs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for url, path := range map[string]string{
		"sqlite:relative.db":                                 "relative.db",
		"sqlite:sub/relative.db?busy=500ms":                  "sub/relative.db",
		"sqlite://" + dir + "/absolute.db":                   "absolute.db",
		"sqlite:with%20space%20%25%20%3F%20%23%20'quote'.db": "with space % ? # 'quote'.db",
	} {
		s, err := backend.Open(t.Context(), url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		acquire(t, s, claim("e", "a", long))
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{
		"sqlite:", "sqlite://host/x.db", "sqlite://relative.db", "sqlite:x.db?mode=memory", "sqlite:x.db?busy=soon", "sqlite:x.db?busy=2m", "sqlite::memory:",
		"sqlite://user:secret@/x.db",
	} {
		s, err := backend.Open(t.Context(), url)
		if err == nil {
			_ = s.Close()
		}
		want(t, url, err, backend.Invalid)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", url, err)
		}
	}
}

// PE60: twenty processes and twenty stores of one process open a new file at once.
func TestManyOpenANewFileAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "leases.db")
	processes := make([]*process, 20)
	for i := range processes {
		processes[i] = start(t, "open", path)
	}
	for _, p := range processes {
		p.expect("ready")
	}
	errs := make(chan error, 20)
	for range cap(errs) {
		go func() {
			s, err := sqlite.Open(context.WithoutCancel(t.Context()), path, sqlite.Options{})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for _, p := range processes {
		p.tell("go")
	}
	for _, p := range processes {
		p.expect("open")
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestOpenWaitsForTheOneWhoMakesTheFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	other := start(t, "lock", path, "CREATE TABLE tenure_other (a)")
	other.expect("locked")
	opened := make(chan error, 1)
	go func() {
		s, err := sqlite.Open(context.WithoutCancel(t.Context()), path, sqlite.Options{Busy: time.Millisecond})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("Open returned %v while another process writes the file", err)
	case <-time.After(300 * time.Millisecond):
	}
	other.tell("go on")
	other.expect("unlocked")
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
}
