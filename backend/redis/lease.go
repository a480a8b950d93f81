package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Acquire implements backend.LeaseStore.
func (s *Store) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	if err := s.barred(); err != nil {
		return backend.Lease{}, err
	}
	l, silent, err := s.acquire(ctx, c, "")
	if silent != "" { // it has been for the holder's TTL: take it over, if it still is
		l, _, err = s.acquire(ctx, c, silent)
	}
	return l, err
}

// acquire asks once. silent is the sign of life that was seen unchanged for the holder's TTL, or nothing; where the election is held, and its holder has been silent for that long, it
// returns the sign.
func (s *Store) acquire(ctx context.Context, c backend.Claim, silent string) (backend.Lease, string, error) {
	seen := ""
	if c.Seen.Known {
		seen = strconv.FormatInt(c.Seen.Counter, 10)
	}
	args := []any{
		c.Candidate.ID, c.Candidate.Encode(), c.Attempt.String(), micros(c.TTL), c.Floor, seen, s.names.channel(c.Election), string(s.mode), silent,
	}
	for _, a := range c.Abandoned {
		args = append(args, a.String())
	}
	a, short, err := s.change(ctx, acquireScript, []string{s.names.key(c.Election)}, args...)
	if err != nil {
		return backend.Lease{}, "", err
	}
	switch a.status {
	case "granted":
		if short != nil {
			return backend.Lease{}, "", s.takeBack(ctx, c, a.call, short)
		}
		s.silence.Forget(c.Election)
		l, err := a.lease(c.Election, c.Candidate.ID, c.Attempt)
		return l, "", err
	case "held":
		r, sign, err := s.observe(c.Election, a)
		if err != nil {
			return backend.Lease{}, "", err
		}
		return backend.Lease{}, sign, &backend.HeldError{Record: r}
	}
	return backend.Lease{}, "", a.refusal(c.Floor)
}

// refusal is the error for a claim with a floor, or a wish to forget, that was turned down for other reasons than a holder.
func (a answer) refusal(floor int64) error {
	switch a.status {
	case "spent":
		return fmt.Errorf("%w: this attempt has had its term", backend.ErrNotHeld)
	case "outdated":
		return backend.ErrOutdated
	case "moved":
		return fmt.Errorf("%w to %s", backend.ErrMoved, a.part(0))
	case "version":
		return fmt.Errorf("%w: version %s", backend.ErrVersion, a.part(0))
	case "far":
		return fmt.Errorf("%w: the floor %d is far above the counter %s", backend.ErrInvalid, floor, a.part(0))
	case "exhausted":
		return fmt.Errorf("%w: the election has used up its tokens", backend.ErrInvalid)
	}
	return unexpected(a)
}

// Release implements backend.LeaseStore.
func (s *Store) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	a, err := s.run(ctx, releaseScript, l.Election, l.Holder, l.Attempt.String(), l.Token, h.To, micros(h.For), s.names.channel(l.Election), "")
	switch {
	case a.status == "foreign":
		return fmt.Errorf("%w: %s", backend.ErrNotHeld, err.Error())
	case err != nil:
		return err
	case a.status == "not held":
		return backend.ErrNotHeld
	case a.status != "released":
		return unexpected(a)
	}
	return nil
}

// Raise implements backend.TokenRaiser.
func (s *Store) Raise(ctx context.Context, election string, token int64) error {
	if token <= 0 || token > backend.MaxToken {
		return fmt.Errorf("%w: token %d is not within 1 and %d", backend.ErrInvalid, token, int64(backend.MaxToken))
	}
	a, err := s.run(ctx, raiseScript, election, token)
	switch {
	case err != nil:
		return err
	case a.status == "far":
		return fmt.Errorf("%w: token %d is far above the counter %s", backend.ErrInvalid, token, a.part(0))
	case a.status != "raised":
		return unexpected(a)
	}
	return nil
}

// lease reads a grant, and checks that it is one for this holder and attempt.
func (a answer) lease(election, holder string, attempt backend.Attempt) (backend.Lease, error) {
	token, badToken := strconv.ParseInt(a.part(2), 10, 64)
	ttl, badTTL := strconv.ParseInt(a.part(3), 10, 64)
	if badToken != nil || badTTL != nil || a.part(0) != holder || a.part(1) != attempt.String() || token <= 0 || token > backend.MaxToken {
		return backend.Lease{}, unexpected(a)
	}
	return backend.Lease{Election: election, Holder: holder, Token: token, Attempt: attempt, TTL: span(ttl)}, nil
}

// micros is a duration as scripts take it, rounded up.
func micros(d time.Duration) int64 { return int64((d + time.Microsecond - 1) / time.Microsecond) }

// span is what micros was made of.
func span(micros int64) time.Duration { return time.Duration(micros) * time.Microsecond }
