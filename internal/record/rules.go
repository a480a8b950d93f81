package record

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Acquire applies a claim, see S1 to S3 of the contract. The order of the checks is part of the contract too.
func (e *Entry) Acquire(claim backend.Claim, c Clock) (backend.Lease, error) {
	if err := e.usable(); err != nil {
		return backend.Lease{}, err
	}
	if !backend.FloorInRange(claim.Floor, max(e.Counter, c.Bound), c.Wall) {
		return backend.Lease{}, fmt.Errorf("%w: the floor %d is far above the counter %d", backend.ErrInvalid, claim.Floor, e.Counter)
	}
	if e.Live(c) {
		if e.Holder.ID == claim.Candidate.ID && e.Attempt == claim.Attempt { // a repeat of the call that was granted
			e.extend(claim.TTL, c)
			return e.lease(claim.Election), nil
		}
		if e.Holder.ID != claim.Candidate.ID || !slices.Contains(claim.Abandoned, e.Attempt) {
			return backend.Lease{}, &backend.HeldError{Record: e.Record(claim.Election, c)}
		}
	} else if e.Attempt == claim.Attempt {
		return backend.Lease{}, fmt.Errorf("%w: this attempt has had its term", backend.ErrNotHeld)
	} else if e.reserved(c) && e.ReservedFor != claim.Candidate.ID {
		return backend.Lease{}, &backend.HeldError{Record: e.Record(claim.Election, c)}
	}
	if claim.Seen.Known && claim.Seen.Counter != e.Counter {
		return backend.Lease{}, backend.ErrOutdated
	}
	token, ok := backend.NextToken(e.Counter, claim.Floor, c.Bound)
	if !ok {
		return backend.Lease{}, fmt.Errorf("%w: the election has used up its tokens", backend.ErrInvalid)
	}
	*e = Entry{
		Counter: token, Holder: claim.Candidate, Token: token, Attempt: claim.Attempt, Granted: c.Now, Version: backend.Version,
	}
	e.extend(claim.TTL, c)
	return e.lease(claim.Election), nil
}

func (e *Entry) usable() error {
	if e.Version > backend.Version {
		return fmt.Errorf("%w: version %d", backend.ErrVersion, e.Version)
	}
	if e.MovedTo != "" {
		return fmt.Errorf("%w to %s", backend.ErrMoved, e.MovedTo)
	}
	return nil
}

// Renew applies S4.
func (e *Entry) Renew(l backend.Lease, c Clock) (backend.Lease, error) {
	if !e.Live(c) || e.Holder.ID != l.Holder || e.Token != l.Token || e.Attempt != l.Attempt {
		return backend.Lease{}, backend.ErrNotHeld
	}
	e.extend(l.TTL, c)
	e.Renewals++
	return e.lease(l.Election), nil
}

func (e *Entry) extend(ttl time.Duration, c Clock) {
	e.TTL, e.Expires = ttl, c.Now+int64(ttl)
}

// Release applies S5. changed is false when an earlier call has released this lease.
func (e *Entry) Release(l backend.Lease, h backend.Handover, c Clock) (changed bool, err error) {
	if e.Attempt != l.Attempt || l.Token != 0 && e.Token != l.Token {
		return false, backend.ErrNotHeld
	}
	if e.Released {
		return false, nil
	}
	if !e.Live(c) || e.Holder.ID != l.Holder {
		return false, backend.ErrNotHeld
	}
	e.Holder, e.Expires, e.Released = backend.Candidate{}, 0, true
	if h.For > 0 {
		e.ReservedFor, e.Reserved = h.To, c.Now+int64(min(h.For, e.TTL))
	}
	return true, nil
}

// Raise lifts the counter to at least token.
func (e *Entry) Raise(token int64, c Clock) error {
	if token <= 0 || token > backend.MaxToken || !backend.FloorInRange(token, max(e.Counter, c.Bound), c.Wall) {
		return fmt.Errorf("%w: token %d is out of range or far above the counter %d", backend.ErrInvalid, token, e.Counter)
	}
	e.Counter = max(e.Counter, token)
	return nil
}
