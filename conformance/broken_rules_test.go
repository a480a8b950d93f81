package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// travel is the request's way to the store, which takes time only where that is a part of the bug; callers hold mu.
func (b *breakable) travel(ctx context.Context) error {
	if b.stuck {
		return errors.New("busy")
	}
	if b.has("calls go on for a minute after their context's end") || b.has("a call that is cut off leaves the store stuck") {
		b.mu.Unlock()
		pause(ctx, time.Millisecond)
		if ctx.Err() != nil && b.has("calls go on for a minute after their context's end") {
			<-time.After(time.Minute)
		}
		b.mu.Lock()
		b.stuck = b.stuck || ctx.Err() != nil && b.has("a call that is cut off leaves the store stuck")
	}
	return nil
}

// judge says whether the claim is a repeat of the live lease's, or why it can't be granted anew.
func (c *brokenClient) judge(e *lot, claim backend.Claim, now time.Time) (again bool, err error) {
	if err := c.readable(e); err != nil {
		return false, err
	}
	own := e.holder.ID == claim.Candidate.ID
	if c.has("the challenger's TTL counts") && !own && now.Sub(e.granted) > claim.TTL {
		e.expires = now
	}
	switch {
	case e.live(now) && e.attempt == claim.Attempt && own:
		return true, nil
	case e.live(now) && own && c.has("the holder's other attempts are repeats"):
		return true, nil
	case e.live(now):
		if !c.abandoned(e, claim, own) {
			return false, c.held(claim.Election, e, now)
		}
		if c.has("an outdated claim ends the abandoned lease") {
			e.expires = now
		}
	case e.attempt == claim.Attempt && !c.spentIsFine(e):
		return false, backend.ErrNotHeld
	case e.until.After(now) && e.reserved != claim.Candidate.ID && !c.has("reservations are ignored"):
		return false, c.held(claim.Election, e, now)
	}
	if claim.Seen.Known && claim.Seen.Counter != e.counter && !c.has("Seen is ignored") {
		return false, backend.ErrOutdated
	}
	return false, nil
}

func (b *breakable) readable(e *lot) error {
	if e.version > backend.Version && !b.has("the record's format is ignored") {
		return backend.ErrVersion
	}
	if e.moved != "" && !b.has("a move is ignored") {
		return fmt.Errorf("%w to %s", backend.ErrMoved, e.moved)
	}
	return nil
}

func (b *breakable) abandoned(e *lot, claim backend.Claim, own bool) bool {
	switch b.bug {
	case "Abandoned is ignored":
		return false
	case "anybody's attempt can be abandoned":
		own = true
	case "any Abandoned ends any attempt of the candidate":
		return own && len(claim.Abandoned) > 0
	}
	return own && slices.Contains(claim.Abandoned, e.attempt)
}

func (b *breakable) spentIsFine(e *lot) bool {
	return b.has("a released attempt is granted again") && e.released || b.has("an expired attempt is granted again") && !e.released
}

func (b *breakable) draw(e *lot, claim backend.Claim, now time.Time) (int64, error) {
	if b.has("the floor is ignored") {
		claim.Floor = 0
	}
	if !backend.FloorInRange(claim.Floor, e.counter, now) && !b.has("absurd floors are accepted") {
		return 0, backend.ErrInvalid
	}
	token, ok := backend.NextToken(e.counter, claim.Floor, b.shelf.floor+1)
	if b.has("tokens keep 14 digits") {
		short, _ := strconv.ParseFloat(strconv.FormatFloat(float64(token), 'g', 14, 64), 64)
		token, ok = int64(short), true
	}
	if !ok {
		return 0, backend.ErrInvalid
	}
	return token, nil
}

// renews reports whether a renewal is of the lease that e holds.
func (b *breakable) renews(e *lot, l backend.Lease) bool {
	ours := b.has("renew goes by the holder alone")
	return (e.holder.ID == l.Holder || b.has("renew ignores the holder")) &&
		(ours || e.token == l.Token || b.has("renew ignores the token")) &&
		(ours || e.attempt == l.Attempt || b.has("renew ignores the attempt"))
}

func (b *breakable) mine(e *lot, l backend.Lease) error {
	switch {
	case b.has("release goes by the holder alone") && e.holder.ID == l.Holder:
		return nil
	case b.has("a release needs its token") && l.Token == 0:
		return backend.ErrInvalid
	case b.has("release ignores the token"):
		l.Token = 0
	}
	if e.attempt != l.Attempt || l.Token != 0 && e.token != l.Token {
		return backend.ErrNotHeld
	}
	return nil
}

// free ends the lease.
func (b *breakable) free(e *lot, h backend.Handover, now time.Time) {
	keep := min(h.For, e.ttl)
	switch b.bug {
	case "a reservation is not cut":
		keep = h.For
	case "a release is followed by a lock-delay":
		keep = cmp.Or(keep, 15*time.Second)
	case "the counter is reset by release":
		e.counter = 0
	case "a reservation makes its candidate holder":
		if h.To != "" {
			e.holder.ID, e.token, e.counter, e.expires = h.To, e.token+1, e.counter+1, now.Add(h.For)
			return
		}
	}
	e.holder, e.released = backend.Candidate{}, true
	if keep > 0 {
		e.reserved, e.until = h.To, now.Add(keep)
	}
}
