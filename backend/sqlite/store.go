package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Options are the settings of a store. The zero value has good ones.
type Options struct {
	// Busy is how long a call waits for another process that holds the write lock. Keep it below the time-out of one attempt. Zero means one second.
	Busy time.Duration
}

const (
	defaultBusy = time.Second
	maxBusy     = time.Minute
)

// Store keeps leases in one SQLite file. It is safe for concurrent use.
type Store struct {
	path     string
	busy     time.Duration
	clock    hostClock
	warnings []string
	observer observer
	hub      hub

	current atomic.Pointer[session]
	opening chan struct{} // held by the one who opens the file anew

	mu     sync.Mutex
	closed bool
	calls  map[*call]struct{}
	active sync.WaitGroup // calls and pollers; Add only under mu and before closed
}

var (
	_ backend.LeaseStore  = (*Store)(nil)
	_ backend.TokenRaiser = (*Store)(nil)
	_ backend.Warner      = (*Store)(nil)
	_ backend.Notifier    = (*Store)(nil)
	_ backend.Roster      = (*Store)(nil)
	_ backend.Lister      = (*Store)(nil)
	_ backend.Forgetter   = (*Store)(nil)
)

// Open opens the file at path for leases. It makes the file with mode 0600, and its folder with mode 0700, if they don't exist. An error that wraps
// backend.ErrInvalid says why the path is unusable, one that wraps backend.ErrDenied names missing permissions.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	s, err := newStore(path, o)
	if err != nil {
		return nil, err
	}
	if err := makeFolder(s.path); err != nil {
		return nil, err
	}
	if _, err := s.session(ctx); err != nil {
		return nil, err
	}
	s.warnings = lookAround(s.path)
	return s, nil
}

func newStore(path string, o Options) (*Store, error) {
	switch {
	case path == "" || strings.HasSuffix(path, string(filepath.Separator)):
		return nil, fmt.Errorf("%w: the path %q names no file", backend.ErrInvalid, path)
	case strings.HasPrefix(path, ":memory:"), strings.HasPrefix(path, "file:"), strings.ContainsRune(path, 0):
		return nil, fmt.Errorf("%w: %q is not the path of a file; for leases in memory use memory:NAME", backend.ErrInvalid, path)
	case o.Busy < 0 || o.Busy > maxBusy:
		return nil, fmt.Errorf("%w: a busy time-out of %v is not within 0 and %v", backend.ErrInvalid, o.Busy, maxBusy)
	}
	path, err := filepath.Abs(path) // the program may change its folder later
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, busy: o.Busy, clock: newHostClock(), opening: make(chan struct{}, 1),
		calls: make(map[*call]struct{}), hub: hub{watchers: make(map[string]map[*watcher]struct{})},
	}
	if s.busy == 0 {
		s.busy = defaultBusy
	}
	return s, nil
}

// Warnings implements backend.Warner.
func (s *Store) Warnings() []string { return s.warnings }

// Close implements backend.LeaseStore. Calls under way are cut short.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for c := range s.calls {
		c.cancel(errClosing)
	}
	s.mu.Unlock()
	s.hub.close()
	s.active.Wait()
	if ss := s.current.Load(); ss != nil {
		return ss.close()
	}
	return nil
}
