package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// calm is how long Forget watches a row of another epoch of the server at least: it stands for the TTL of whoever would claim the election next.
const calm = 30 * time.Second

// Forget implements backend.Forgetter.
//
// A row that was written before the server was last started, or before it was promoted, may hide a lease in which somebody still believes: that is why challengers wait for the longer of the row's TTL and
// their own. Without the row the next of them would wait for nothing. So Forget waits in their place: it returns ErrHeld, with a record that tells for how long, until this store has seen the row
// unchanged for the longer of the row's TTL and 30 s. A challenger which leads after such a wait and resigns leaves a row behind that all others may have at once, so that Forget spares them nothing which it
// wouldn't have spared them. What it does cost: until the election's next grant is on a replica, a fail-over may lose that grant, as it may lose the first one of any election.
//
// The last attempt goes with the row: a late copy of a call that was given up long ago may be granted once more, and keeps the election for a TTL. A transaction that is fenced by the last lease
// holds the row; Forget waits for it within its context.
func (s *Store) Forget(ctx context.Context, r backend.Record) error {
	return s.do(ctx, func(ctx context.Context, texts *statements) error {
		for range maxTurns {
			reply, err := s.read(ctx, s.get(texts, r.Election))
			if err != nil {
				return err
			}
			now, found, err := parseRow(reply)
			if err != nil || !found || now.entry.Version == 0 { // no record, or a row that was made for one which was then refused
				return err
			}
			silent := s.observe(r.Election, &now, backend.Claim{TTL: s.calm})
			if err := now.forgettable(r); err != nil {
				return err
			}
			gone, err := s.write(ctx, statement{texts.forget, s.key(r.Election, strconv.FormatInt(r.Counter, 10), r.Attempt.String(), strconv.Itoa(backend.Version), silent, now.epoch)})
			if err != nil {
				return err
			}
			if len(gone[0]) > 0 {
				s.seen.Forget(r.Election)
				return nil
			}
		}
		return errBusy
	})
}

// forgettable judges a row as it was read and observed.
func (now row) forgettable(r backend.Record) error {
	e, is := now.entry, now.entry.Record(r.Election, now.clock)
	switch {
	case e.Version > backend.Version:
		return fmt.Errorf("%w: version %d", backend.ErrVersion, e.Version)
	case e.MovedTo != "":
		return fmt.Errorf("%w to %s", backend.ErrMoved, e.MovedTo)
	case is.Held() || is.Reserved.For > 0:
		return &backend.HeldError{Record: is}
	case e.Counter != r.Counter || e.Attempt != r.Attempt:
		return backend.ErrOutdated
	case e.Counter >= now.clock.Bound:
		return fmt.Errorf("%w: the counter %d is not behind the server's clock in microseconds, from which the next token would come; forget it when that clock has passed it", backend.ErrInvalid, e.Counter)
	}
	return nil
}
