package sqlite

import (
	"context"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/record"
)

// rule is one rule of the contract, applied to an election's entry.
type rule func(*record.Entry, record.Clock) error

// Acquire implements backend.LeaseStore.
func (s *Store) Acquire(ctx context.Context, claim backend.Claim) (backend.Lease, error) {
	var l backend.Lease
	acquire := func(e *record.Entry, c record.Clock) (err error) {
		l, err = e.Acquire(claim, c)
		return err
	}
	err := s.do(ctx, func(ctx context.Context, ss *session) error {
		// Losers read, they don't write: most claims are refused, and a refusal needs no lock.
		if err := s.read(ctx, ss, claim.Election, acquire); err != nil {
			return err
		}
		return s.write(ctx, ss, onDisk, claim.Election, acquire)
	})
	if err != nil {
		return backend.Lease{}, err
	}
	return l, nil
}

// Renew implements backend.LeaseStore.
func (s *Store) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	var renewed backend.Lease
	err := s.do(ctx, func(ctx context.Context, ss *session) error {
		return s.write(ctx, ss, soon, l.Election, func(e *record.Entry, c record.Clock) (err error) {
			renewed, err = e.Renew(l, c)
			return err
		})
	})
	if err != nil {
		return backend.Lease{}, err
	}
	return renewed, nil
}

// Release implements backend.LeaseStore.
func (s *Store) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	return s.do(ctx, func(ctx context.Context, ss *session) error {
		return s.write(ctx, ss, onDisk, l.Election, func(e *record.Entry, c record.Clock) error {
			_, err := e.Release(l, h, c)
			return err
		})
	})
}

// Get implements backend.LeaseStore.
func (s *Store) Get(ctx context.Context, election string) (backend.Record, error) {
	var r backend.Record
	err := s.do(ctx, func(ctx context.Context, ss *session) error {
		return s.read(ctx, ss, election, func(e *record.Entry, c record.Clock) error {
			r = e.Record(election, c)
			return nil
		})
	})
	return r, err
}

// Raise implements backend.TokenRaiser.
func (s *Store) Raise(ctx context.Context, election string, token int64) error {
	return s.do(ctx, func(ctx context.Context, ss *session) error {
		return s.write(ctx, ss, onDisk, election, func(e *record.Entry, c record.Clock) error { return e.Raise(token, c) })
	})
}

// read applies r to an election as last committed. What r does to the entry is thrown away.
func (s *Store) read(ctx context.Context, ss *session, election string, r rule) error {
	e, c, err := s.entry(ctx, ss.reader, election)
	if err != nil {
		return err
	}
	return r(&e, c)
}

// entry reads an election's entry, and then the time: under the write lock, a lease that ended while the call waited for it has ended, and without it the entry holds as of a moment within the
// call.
func (s *Store) entry(ctx context.Context, q querier, election string) (record.Entry, record.Clock, error) {
	floor, err := readFloor(ctx, q)
	if err != nil {
		return record.Entry{}, record.Clock{}, err
	}
	row, err := readRow(ctx, q, election)
	if err != nil {
		return record.Entry{}, record.Clock{}, err
	}
	c := s.clock.now()
	c.Bound = max(c.Bound, floor+1)
	return s.observer.entry(election, row, s.clock.boot, c), c, nil
}

// write applies r to an election under the write lock and keeps what it did, unless it returns an error.
func (s *Store) write(ctx context.Context, ss *session, d durability, election string, r rule) error {
	var before, after record.Entry
	err := ss.transaction(ctx, d, func(ctx context.Context, q querier) (err error) {
		var c record.Clock
		if before, c, err = s.entry(ctx, q, election); err != nil {
			return err
		}
		after = before
		if err := r(&after, c); err != nil || after == before {
			return err
		}
		return writeRow(ctx, q, election, stored{Entry: after, boot: s.clock.boot})
	})
	if err == nil && stateOf(after) != stateOf(before) {
		s.hub.notify(election, stateOf(after))
	}
	return err
}
