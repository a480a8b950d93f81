//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

func init() { roles["stranger"] = playStranger }

// playStranger gives up root's rights, which no file mode stops, and tells how opening the file (argument: path) fails.
func playStranger(args []string) error {
	const nobody = 65534
	if os.Getuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			return err
		}
	}
	s, err := sqlite.Open(context.Background(), args[0], sqlite.Options{})
	if err == nil {
		_ = s.Close()
	}
	fmt.Println(backend.ClassOf(err), strings.ReplaceAll(fmt.Sprint(err), "\n", " "))
	return nil
}

// modes returns the modes of the file and what belongs to it.
func modes(t *testing.T, path string) map[string]fs.FileMode {
	t.Helper()
	modes := make(map[string]fs.FileMode)
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		modes[filepath.Base(p)] = info.Mode().Perm()
	}
	return modes
}

func TestNewFileIsForItsUserAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "folder")
	path := filepath.Join(dir, "leases.db")
	s := open(t, path)
	acquire(t, s, claim("e", "a", long))
	for name, mode := range modes(t, path) {
		if mode != 0o600 {
			t.Errorf("%s has mode %#o, want 0600", name, mode)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v, want 0700", info.Mode(), err)
	}
	if w := s.Warnings(); len(w) != 0 {
		t.Errorf("warnings for a new file: %q", w)
	}
}

func TestMistypedPathIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "no", "such", "leases.db")
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if !errors.Is(err, backend.ErrInvalid) || !strings.Contains(err.Error(), filepath.Dir(filepath.Dir(path))) {
		t.Errorf("got %v, want the missing folder", err)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(path))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}

func TestExistingFileKeepsItsModeAndIsWarnedOf(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	acquire(t, s, claim("e", "a", long))
	if m := modes(t, path)["leases.db"]; m != 0o664 {
		t.Errorf("mode %#o, want 0664 as before", m)
	}
	if w := s.Warnings(); len(w) != 2 || !strings.Contains(w[0], "0664") || !strings.Contains(w[1], "0777") {
		t.Errorf("warnings %q, want one of the file and one of the folder", w)
	}
}

func TestReadOnlyIsDenied(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "tenure-read-only") //nolint:usetesting // another user can't enter t.TempDir's parent
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700); _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "leases.db")
	open(t, path)
	for name, set := range map[string]struct{ file, dir fs.FileMode }{
		"file of mode 0444":            {0o444, 0o755},
		"file of another user":         {0o400, 0o755},
		"folder of another user":       {0o666, 0o755},
		"folder that can't be entered": {0o666, 0o600},
	} {
		for p := range modes(t, path) {
			if err := os.Chmod(filepath.Join(dir, p), set.file); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, set.dir); err != nil {
			t.Fatal(err)
		}
		p := start(t, "stranger", path)
		if text := p.expect("denied"); !strings.Contains(text, dir) {
			t.Errorf("%s: the error %q doesn't name the place", name, text)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
