package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// readers is how many connections read at once; one of them is the poller's while somebody watches.
const readers = 4

// session is the database while the path leads to one and the same file. It holds a connection to it as long as it lives.
type session struct {
	path   string
	busy   time.Duration
	writer *sql.DB // one connection: its queue is the write lock within the process
	reader *sql.DB

	files []identity
}

// identity is a file as it was when the session began.
type identity struct {
	path string
	info os.FileInfo
}

func (i identity) intact() bool {
	now, err := os.Stat(i.path) // never open: closing a second descriptor would drop SQLite's locks
	return err == nil && os.SameFile(now, i.info)
}

// session returns the open file. It opens it anew when the path has come to lead to another one: whoever went on with a removed file would lead beside those
// who elect on the new one.
func (s *Store) session(ctx context.Context) (*session, error) {
	if ss := s.current.Load(); ss != nil && ss.intact() {
		return ss, nil
	}
	select {
	case s.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.opening }()
	old := s.current.Load()
	if old != nil && old.intact() {
		return old, nil // another call was faster
	}
	if old != nil {
		// First, since SQLite shares the log's index between all connections of a process; its file is gone, nothing in it counts any more.
		s.current.Store(nil)
		_ = old.close()
	}
	ss, err := openSession(ctx, s.path, s.busy)
	if err != nil {
		return nil, s.explain(err)
	}
	s.current.Store(ss)
	return ss, nil
}

// openBusy is how long an open waits for others who make, upgrade or leave the same file.
const openBusy = 10 * time.Second

func openSession(ctx context.Context, path string, busy time.Duration) (ss *session, err error) {
	err = retryWhile(ctx, inTransition, max(busy, openBusy), func() error {
		if err := ensureFile(path); err != nil {
			return err
		}
		ss = &session{path: path, busy: busy}
		if err := ss.open(ctx); err != nil {
			return errors.Join(err, ss.close())
		}
		return nil
	})
	return ss, notDatabase(path, err)
}

func (ss *session) open(ctx context.Context) error {
	file, err := filepath.EvalSymlinks(ss.path) // SQLite keeps the log beside the real file
	if err != nil {
		return err
	}
	if err := checkFileSystem(file); err != nil {
		return err
	}
	if err := checkAccess(file); err != nil {
		return err
	}
	if err := ss.remember(ss.path); err != nil {
		return err
	}
	if ss.writer, err = ss.pool(file, 1, "_txlock=immediate"); err != nil {
		return err
	}
	if ss.reader, err = ss.pool(file, readers, "_pragma=query_only(1)"); err != nil {
		return err
	}
	if err := migrate(ctx, ss); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := ss.remember(file + suffix); err != nil {
			return err
		}
	}
	// SQLite shares the log's index between all connections of a process: as long as one of an earlier session, or of another store, is left on a removed index, new ones are
	// on it too, whatever the path leads to.
	for _, f := range ss.files {
		if !f.held() {
			return errLeftOver
		}
	}
	return nil
}

func (ss *session) remember(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errReplaced // it was there a moment ago
	}
	if err != nil {
		return err
	}
	ss.files = append(ss.files, identity{path: path, info: info})
	return nil
}

// intact reports whether the path still leads to the open file, and the log to the open log.
func (ss *session) intact() bool {
	for _, f := range ss.files {
		if !f.intact() {
			return false
		}
	}
	return true
}

func (ss *session) close() error {
	var errs []error
	for _, db := range []*sql.DB{ss.reader, ss.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
