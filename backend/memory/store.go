package memory

import (
	"context"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/record"
)

// Store is one client of a Server. It is safe for concurrent use.
type Store struct {
	server *Server

	mu     sync.Mutex
	closed bool
	ends   map[*watcher]func() bool // the watches, and what unties each from its context
}

var (
	_ backend.LeaseStore  = (*Store)(nil)
	_ backend.TokenRaiser = (*Store)(nil)
	_ backend.Notifier    = (*Store)(nil)
	_ backend.Roster      = (*Store)(nil)
	_ backend.Lister      = (*Store)(nil)
	_ backend.Forgetter   = (*Store)(nil)
)

// New returns a client of a server of its own.
func New() *Store { return NewServer().Client() }

// Client returns one more client of the server.
func (s *Server) Client() *Store { return &Store{server: s, ends: make(map[*watcher]func() bool)} }

// Server returns the server that holds the store's records.
func (s *Store) Server() *Server { return s.server }

// Limits tells what this store keeps.
func (s *Store) Limits() backend.Limits {
	return backend.Limits{
		Store: "memory", MinTTL: time.Millisecond, MaxTTL: 365 * 24 * time.Hour, Granularity: 1,
		WakeUp: backend.Pushed, Durability: backend.Volatile, Tokens: backend.Counter,
		Assumptions: []string{"All candidates live in one process, which also keeps the records."},
	}
}

// Acquire implements backend.LeaseStore.
func (s *Store) Acquire(ctx context.Context, claim backend.Claim) (backend.Lease, error) {
	var l backend.Lease
	err := s.do(ctx, claim.Election, func(e *record.Entry, c record.Clock) (bool, error) {
		before := e.Counter
		var err error
		l, err = e.Acquire(claim, c)
		return e.Counter != before, err
	})
	return l, err
}

// Renew implements backend.LeaseStore.
func (s *Store) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	var renewed backend.Lease
	err := s.do(ctx, l.Election, func(e *record.Entry, c record.Clock) (bool, error) {
		var err error
		renewed, err = e.Renew(l, c)
		return false, err
	})
	return renewed, err
}

// Release implements backend.LeaseStore.
func (s *Store) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	return s.do(ctx, l.Election, func(e *record.Entry, c record.Clock) (bool, error) { return e.Release(l, h, c) })
}

// Get implements backend.LeaseStore.
func (s *Store) Get(ctx context.Context, election string) (backend.Record, error) {
	var r backend.Record
	err := s.do(ctx, election, func(e *record.Entry, c record.Clock) (bool, error) {
		r = e.Record(election, c)
		return false, nil
	})
	return r, err
}

// Raise implements backend.TokenRaiser.
func (s *Store) Raise(ctx context.Context, election string, token int64) error {
	return s.do(ctx, election, func(e *record.Entry, c record.Clock) (bool, error) { return false, e.Raise(token, c) })
}

// do applies f to an election's entry in one atomic step, and wakes the watchers when f reports a change.
func (s *Store) do(ctx context.Context, election string, f func(*record.Entry, record.Clock) (changed bool, err error)) error {
	return s.within(ctx, func(server *Server, c record.Clock) error {
		changed, err := f(server.entry(election), c)
		if changed {
			server.wake(election)
		}
		return err
	})
}

// within applies f to the server in one atomic step.
func (s *Store) within(ctx context.Context, f func(*Server, record.Clock) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return backend.ErrClosed
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	return f(s.server, s.server.clock())
}
