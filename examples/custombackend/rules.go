package custombackend

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// entry is what the file of an election holds. The zero value is an election that never had a holder.
type entry struct {
	Election string
	Version  int
	Counter  int64             // a field of its own: it outlives every lease (S2)
	Holder   backend.Candidate // of the last lease
	Token    int64
	Attempt  string // stays after the lease's end, so that it is not granted again (S3)
	TTL      time.Duration
	Granted  time.Time
	Expires  time.Time
	Renewals int64
	Released bool
	Reserved time.Time // nobody but ReservedFor may acquire before
	For      string
	MovedTo  string
}

func (e *entry) live(now time.Time) bool { return !e.Released && now.Before(e.Expires) }

// acquire decides a claim. The order of the checks matters: a repeat is answered before anything that could refuse it, Seen only where a new token would be drawn.
func (e *entry) acquire(c backend.Claim, now time.Time) (backend.Lease, error) {
	same, own := e.Attempt == c.Attempt.String(), e.Holder.ID == c.Candidate.ID
	abandoned := own && slices.ContainsFunc(c.Abandoned, func(a backend.Attempt) bool { return a.String() == e.Attempt })
	switch {
	case e.MovedTo != "":
		return backend.Lease{}, fmt.Errorf("%w to %s", backend.ErrMoved, e.MovedTo)
	case !backend.FloorInRange(c.Floor, e.Counter, now):
		return backend.Lease{}, fmt.Errorf("%w: the floor %d is far above the counter %d", backend.ErrInvalid, c.Floor, e.Counter)
	case e.live(now) && same && own: // a repeat of the call that was granted
		e.TTL, e.Expires = c.TTL, now.Add(c.TTL)
		return e.lease(), nil
	case !e.live(now) && same:
		return backend.Lease{}, fmt.Errorf("%w: this attempt has had its term", backend.ErrNotHeld)
	case e.live(now) && !abandoned, now.Before(e.Reserved) && e.For != c.Candidate.ID:
		return backend.Lease{}, &backend.HeldError{Record: e.record(now)}
	case c.Seen.Known && c.Seen.Counter != e.Counter:
		return backend.Lease{}, backend.ErrOutdated
	}
	// Not below the clock: tokens grow even if somebody removes the file.
	token, ok := backend.NextToken(e.Counter, c.Floor, now.UnixMicro())
	if !ok {
		return backend.Lease{}, fmt.Errorf("%w: the election has used up its tokens", backend.ErrInvalid)
	}
	*e = entry{
		Election: c.Election, Version: backend.Version, Counter: token, Holder: c.Candidate, Token: token, Attempt: c.Attempt.String(),
		TTL: c.TTL, Granted: now, Expires: now.Add(c.TTL),
	}
	return e.lease(), nil
}

func (e *entry) renew(l backend.Lease, now time.Time) (backend.Lease, error) {
	if !e.live(now) || e.Holder.ID != l.Holder || e.Token != l.Token || e.Attempt != l.Attempt.String() {
		return backend.Lease{}, backend.ErrNotHeld // an expired lease is never revived (S4)
	}
	e.TTL, e.Expires = l.TTL, now.Add(l.TTL)
	e.Renewals++
	return e.lease(), nil
}

func (e *entry) release(l backend.Lease, h backend.Handover, now time.Time) error {
	switch {
	case e.Holder.ID != l.Holder || e.Attempt != l.Attempt.String() || l.Token != 0 && e.Token != l.Token:
		return backend.ErrNotHeld
	case e.Released:
		return nil // by an earlier call whose reply was lost (S5)
	case !e.live(now):
		return backend.ErrNotHeld
	}
	e.Released = true
	if h.For > 0 {
		e.For, e.Reserved = h.To, now.Add(min(h.For, e.TTL))
	}
	return nil
}

func (e *entry) raise(token int64, now time.Time) error {
	if token <= 0 || token > backend.MaxToken || !backend.FloorInRange(token, e.Counter, now) {
		return fmt.Errorf("%w: token %d is out of range or far above the counter %d", backend.ErrInvalid, token, e.Counter)
	}
	e.Counter = max(e.Counter, token)
	return nil
}

func (e *entry) record(now time.Time) backend.Record {
	r := backend.Record{
		Election: e.Election, Token: e.Token, Counter: e.Counter, TTL: e.TTL, MovedTo: e.MovedTo, Version: e.Version,
	}
	r.Attempt, _ = fence.ParseAttempt(e.Attempt) // the zero attempt before the first grant
	switch {
	case e.live(now):
		r.Holder, r.Renewals, r.Remaining, r.Age = e.Holder, e.Renewals, e.Expires.Sub(now), now.Sub(e.Granted)
	case now.Before(e.Reserved):
		r.Reserved = backend.Reservation{To: e.For, For: e.Reserved.Sub(now)}
	}
	return r
}

func (e *entry) lease() backend.Lease {
	a, _ := fence.ParseAttempt(e.Attempt)
	return backend.Lease{Election: e.Election, Holder: e.Holder.ID, Token: e.Token, Attempt: a, TTL: e.TTL}
}
