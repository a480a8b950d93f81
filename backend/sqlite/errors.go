package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tenure-go/tenure/backend"
)

// errReplaced says that the path leads to another file than the one which is open.
var errReplaced = errors.New("the file was removed or replaced during the call")

// errLeftOver says that a connection of this process has not let go of a removed file yet.
var errLeftOver = errors.New("the file's log was removed, and a call of this process still uses the old one")

// code is SQLite's primary result code, or SQLITE_OK when err isn't one of SQLite.
func code(err error) int { return extendedCode(err) & 0xff }

func extendedCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return sqlite3.SQLITE_OK
}

func isBusy(err error) bool { return code(err) == sqlite3.SQLITE_BUSY }

// inTransition says that an open came while others make the file, or while others still hold the log of a removed one: they let go at their next call.
func inTransition(err error) bool {
	return isBusy(err) || extendedCode(err) == sqlite3.SQLITE_IOERR_SHORT_READ || errors.Is(err, errReplaced) || errors.Is(err, errLeftOver)
}

// retryWhile repeats f while it fails in a way that passes, for at most patience.
func retryWhile(ctx context.Context, passes func(error) bool, patience time.Duration, f func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := f()
		switch {
		case err == nil || !passes(err):
			return err
		case time.Now().After(deadline) && isBusy(err):
			return fmt.Errorf("another process has held the write lock for %v; if it is frozen, it holds it until it goes on or is killed: %w", patience, err)
		case time.Now().After(deadline):
			return err
		}
		pause := time.NewTimer(time.Millisecond + rand.N(2*time.Millisecond))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return context.Cause(ctx)
		}
	}
}

// explain marks errors of missing permissions.
func (s *Store) explain(err error) error {
	switch {
	case err == nil, errors.Is(err, backend.ErrDenied):
		return err
	case code(err) == sqlite3.SQLITE_READONLY, code(err) == sqlite3.SQLITE_PERM, errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: this user must be able to write %s and its folder: %w", backend.ErrDenied, s.path, err)
	}
	return err
}

// notDatabase says what is wrong with a file that SQLite doesn't take.
func notDatabase(path string, err error) error {
	switch code(err) {
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s is not a SQLite database; give tenure a file of its own", backend.ErrInvalid, path)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%s is damaged; stop all candidates and move it away, tokens go on growing by the clock: %w", path, err)
	}
	return err
}
