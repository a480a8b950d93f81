package sqlite_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

func TestOpenSaysWhatIsWrongWithTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := write("other.db", nil)
	alter(t, other, "CREATE TABLE customers (name TEXT)")
	newer := filepath.Join(dir, "newer.db")
	if err := open(t, newer).Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, newer, "UPDATE tenure_schema SET version = 2")
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
		{write("text.txt", bytes.Repeat([]byte("This is a text. "), 100)), "not a SQLite database"},
		{write("short.txt", []byte("hello")), "not a SQLite database"},
		{other, "customers"},
		{newer, "upgrade"},
		{os.DevNull, "not a regular file"},
		{dangling, "symbolic link"},
		{filepath.Join(other, "below-a-file.db"), "not a directory"},
	} {
		s, err := sqlite.Open(t.Context(), c.path, sqlite.Options{})
		if err == nil {
			_ = s.Close()
			t.Errorf("Open(%q) succeeded", c.path)
			continue
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("Open(%q): %v; it doesn't say %q", c.path, err, c.says)
		}
		if backend.ClassOf(err) != backend.Invalid {
			t.Errorf("Open(%q): %v is %v, want invalid", c.path, err, backend.ClassOf(err))
		}
	}
	if mode, err := os.ReadFile(other); err != nil || mode[18] != 1 {
		t.Errorf("the other program's file was changed to WAL mode")
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
