package custombackend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// change applies f to an election's entry as one step that no other process can come between, and writes the outcome. The answers of f, which change nothing, are definite. Every
// other error is left as it is: it means that the change may have been written, and the elector treats it so.
func (s *Store) change(ctx context.Context, election string, f func(*entry, time.Time) error) error {
	return s.locked(ctx, election, func(e entry, now time.Time) error {
		if e.Version > backend.Version {
			return fmt.Errorf("%w: version %d", backend.ErrVersion, e.Version) // to write it would lose the fields that we don't know
		}
		before := e
		if err := f(&e, now); err != nil || e == before {
			return err
		}
		return write(s.file(election), e)
	})
}

// locked calls f with the election's entry, and with the time read after the lock was got: a call that has waited must not judge by the time at which it came.
func (s *Store) locked(ctx context.Context, election string, f func(entry, time.Time) error) (err error) {
	defer func() {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w: %w", backend.ErrDenied, err)
		}
	}()
	unlock, err := s.lock(ctx, s.file(election)+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	e, err := read(s.file(election), election)
	if err != nil {
		return err
	}
	return f(e, time.Now().Round(0)) // without the monotonic reading, which no other process has
}

// lock tries until it has the lock. It asks rather than waits in the kernel, where neither ctx nor Close could end it.
func (s *Store) lock(ctx context.Context, path string) (unlock func(), err error) {
	for most := time.Millisecond; ; most = min(2*most, 20*time.Millisecond) {
		if s.isClosed() {
			return nil, backend.ErrClosed
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if unlock, err = tryLock(path); unlock != nil || err != nil {
			return unlock, err
		}
		select {
		case <-time.After(rand.N(most)):
		case <-ctx.Done():
		case <-s.closed:
		}
	}
}

func (s *Store) file(election string) string {
	sum := sha256.Sum256([]byte(election))
	return filepath.Join(s.folder, hex.EncodeToString(sum[:])+".json")
}

// read returns the entry in a file. A file that can't be read is an error and never an empty election: that would grant it a second time.
func read(path, election string) (entry, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return entry{Election: election}, nil
	} else if err != nil {
		return entry{}, err
	}
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		return entry{}, fmt.Errorf("%s holds no record: %w", path, err)
	}
	return e, nil
}

// write replaces a file, and returns when the new one is on disk: its content first, then its name. A process killed anywhere in between leaves the old record or the new one.
func write(path string, e entry) error {
	text, err := json.MarshalIndent(e, "", "\t")
	if err != nil {
		return err
	}
	next := path + ".next" // one name, so that killed processes leave no more than one
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
