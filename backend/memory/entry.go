package memory

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// entry is the record of one election, and its methods are the contract's rules. Times are the server's.
type entry struct {
	counter  int64 // never falls
	holder   backend.Candidate
	token    int64
	attempt  backend.Attempt // stays after the lease's end, so that it is not granted again
	ttl      time.Duration
	expires  time.Time
	granted  time.Time
	renewals int64
	released bool
	reserved backend.Reservation // For is unused: until counts
	until    time.Time
	movedTo  string
	version  int
}

func (e *entry) live(now time.Time) bool { return e.holder.ID != "" && e.expires.After(now) }

func (e *entry) reservedAt(now time.Time) bool { return e.until.After(now) }

// record is what Get shows.
func (e *entry) record(election string, now time.Time) backend.Record {
	r := backend.Record{
		Election: election, Token: e.token, Counter: e.counter, Attempt: e.attempt, TTL: e.ttl,
		MovedTo: e.movedTo, Version: e.version, Mode: backend.Native,
	}
	if e.live(now) {
		r.Holder, r.Remaining, r.Age, r.Renewals = e.holder, e.expires.Sub(now), now.Sub(e.granted), e.renewals
	} else if e.reservedAt(now) {
		r.Reserved = backend.Reservation{To: e.reserved.To, For: e.until.Sub(now)}
	}
	return r
}

// acquire applies a claim, see S1 to S3.
func (e *entry) acquire(c backend.Claim, now time.Time) (backend.Lease, error) {
	if err := e.usable(); err != nil {
		return backend.Lease{}, err
	}
	if !backend.FloorInRange(c.Floor, e.counter, now) {
		return backend.Lease{}, fmt.Errorf("%w: the floor %d is far above the counter %d", backend.ErrInvalid, c.Floor, e.counter)
	}
	if e.live(now) {
		if e.holder.ID == c.Candidate.ID && e.attempt == c.Attempt { // a repeat of the call that was granted
			e.expires, e.ttl = now.Add(c.TTL), c.TTL
			return e.lease(c.Election), nil
		}
		if e.holder.ID != c.Candidate.ID || !slices.Contains(c.Abandoned, e.attempt) {
			return backend.Lease{}, &backend.HeldError{Record: e.record(c.Election, now)}
		}
	} else if e.attempt == c.Attempt {
		return backend.Lease{}, fmt.Errorf("%w: this attempt has had its term", backend.ErrNotHeld)
	} else if e.reservedAt(now) && e.reserved.To != c.Candidate.ID {
		return backend.Lease{}, &backend.HeldError{Record: e.record(c.Election, now)}
	}
	if c.Seen.Known && c.Seen.Counter != e.counter {
		return backend.Lease{}, backend.ErrOutdated
	}
	token, ok := backend.NextToken(e.counter, c.Floor, 0)
	if !ok {
		return backend.Lease{}, fmt.Errorf("%w: the election has used up its tokens", backend.ErrInvalid)
	}
	*e = entry{
		counter: token, holder: c.Candidate, token: token, attempt: c.Attempt, ttl: c.TTL, expires: now.Add(c.TTL),
		granted: now, version: backend.Version,
	}
	return e.lease(c.Election), nil
}

func (e *entry) usable() error {
	if e.version > backend.Version {
		return fmt.Errorf("%w: version %d", backend.ErrVersion, e.version)
	}
	if e.movedTo != "" {
		return fmt.Errorf("%w to %s", backend.ErrMoved, e.movedTo)
	}
	return nil
}

func (e *entry) lease(election string) backend.Lease {
	return backend.Lease{Election: election, Holder: e.holder.ID, Token: e.token, Attempt: e.attempt, TTL: e.ttl}
}

// renew applies S4.
func (e *entry) renew(l backend.Lease, now time.Time) (backend.Lease, error) {
	if !e.live(now) || e.holder.ID != l.Holder || e.token != l.Token || e.attempt != l.Attempt {
		return backend.Lease{}, backend.ErrNotHeld
	}
	e.expires, e.ttl = now.Add(l.TTL), l.TTL
	e.renewals++
	return e.lease(l.Election), nil
}

// release applies S5.
func (e *entry) release(l backend.Lease, h backend.Handover, now time.Time) (changed bool, err error) {
	if e.attempt != l.Attempt || l.Token != 0 && e.token != l.Token {
		return false, backend.ErrNotHeld
	}
	if e.released {
		return false, nil
	}
	if !e.live(now) || e.holder.ID != l.Holder {
		return false, backend.ErrNotHeld
	}
	e.holder, e.expires, e.released = backend.Candidate{}, time.Time{}, true
	if h.For > 0 {
		e.reserved, e.until = backend.Reservation{To: h.To}, now.Add(min(h.For, e.ttl))
	}
	return true, nil
}

func (e *entry) raise(token int64, now time.Time) error {
	if token <= 0 || token > backend.MaxToken || !backend.FloorInRange(token, e.counter, now) {
		return fmt.Errorf("%w: token %d is out of range or far above the counter %d", backend.ErrInvalid, token, e.counter)
	}
	e.counter = max(e.counter, token)
	return nil
}
