package custombackend

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Store keeps leases in a folder. It is safe for concurrent use; any number of stores, in any number of processes of the host, may use one folder.
type Store struct {
	folder  string
	mu      sync.Mutex     // orders Watch and Close
	closed  chan struct{}  // closed by Close
	watches sync.WaitGroup // their goroutines
}

var (
	_ backend.LeaseStore  = (*Store)(nil)
	_ backend.TokenRaiser = (*Store)(nil) // optional, and one line here
)

// Open returns a store on the folder at path, which is made if it is missing.
func Open(path string) (*Store, error) {
	if !canLock {
		return nil, errors.New("this store needs a file lock that it knows on Linux and macOS only; use another store here")
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return &Store{folder: path, closed: make(chan struct{})}, nil
}

// Limits tells what this store keeps. Claim no more than what the suite has shown.
func (s *Store) Limits() backend.Limits {
	return backend.Limits{
		Store: "folder", MinTTL: time.Second, MaxTTL: 365 * 24 * time.Hour, Granularity: 1,
		WallClock: true,
		ClockStep: 50 * time.Millisecond, // the elector takes it off each lease
		WakeUp:    backend.Polled, Durability: backend.Local, Tokens: backend.CounterClock,
		Assumptions: []string{
			"All candidates run on one host, and the folder is on a local file system of it.",
			"The host's wall clock steps forward by no more than 50 ms within a TTL (its time daemon slews it); where it is set back, leases last longer by that.",
			"Nobody changes or removes files of the folder while a leader leads.",
			"A process frozen in the middle of a write stops all others of that election until it goes on or is killed.",
		},
	}
}

// Acquire implements backend.LeaseStore.
func (s *Store) Acquire(ctx context.Context, c backend.Claim) (l backend.Lease, err error) {
	err = s.change(ctx, c.Election, func(e *entry, now time.Time) error { l, err = e.acquire(c, now); return err })
	return l, err
}

// Renew implements backend.LeaseStore.
func (s *Store) Renew(ctx context.Context, l backend.Lease) (renewed backend.Lease, err error) {
	err = s.change(ctx, l.Election, func(e *entry, now time.Time) error { renewed, err = e.renew(l, now); return err })
	return renewed, err
}

// Release implements backend.LeaseStore.
func (s *Store) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	return s.change(ctx, l.Election, func(e *entry, now time.Time) error { return e.release(l, h, now) })
}

// Raise implements backend.TokenRaiser.
func (s *Store) Raise(ctx context.Context, election string, token int64) error {
	return s.change(ctx, election, func(e *entry, now time.Time) error { return e.raise(token, now) })
}

// Get implements backend.LeaseStore. It takes the lock too: a reader beside a frozen writer would see a lease end that the writer then prolongs.
func (s *Store) Get(ctx context.Context, election string) (r backend.Record, err error) {
	err = s.locked(ctx, election, func(e entry, now time.Time) error { r = e.record(now); return nil })
	return r, err
}

// Close implements backend.LeaseStore. It ends the watches and the calls that wait for a lock.
func (s *Store) Close() error {
	s.mu.Lock()
	if !s.isClosed() {
		close(s.closed)
	}
	s.mu.Unlock()
	s.watches.Wait()
	return nil
}

func (s *Store) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}
