package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

// maxTurns is how often a call looks again when the row has changed between a refused write and the look that was to tell why.
const maxTurns = 5

// Acquire implements backend.LeaseStore.
func (s *Store) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	var l backend.Lease
	err := s.do(ctx, func(ctx context.Context, texts *statements) (err error) {
		l, err = s.acquire(ctx, texts, c)
		return err
	})
	if err != nil {
		return backend.Lease{}, err
	}
	return l, nil
}

// acquire looks first and writes only what can be granted: a loser costs the server a plain read, and takes no row lock. The write judges again, by the row that it has locked.
func (s *Store) acquire(ctx context.Context, texts *statements, c backend.Claim) (backend.Lease, error) {
	for range maxTurns {
		reply, err := s.read(ctx, s.get(texts, c.Election))
		if err != nil {
			return backend.Lease{}, err
		}
		r, found, err := parseRow(reply)
		if err != nil {
			return backend.Lease{}, err
		}
		var l backend.Lease
		var granted bool
		if found {
			l, granted, err = s.contest(ctx, texts, c, r)
		} else {
			l, granted, err = s.take(ctx, c, statement{texts.seed, s.key(c.Election)}, s.grant(texts, c, "", ""))
		}
		if err != nil || granted {
			return l, err
		}
	}
	return backend.Lease{}, errBusy
}

// contest applies a claim to a row as it was read. granted is false, without an error, where the row has changed since.
func (s *Store) contest(ctx context.Context, texts *statements, c backend.Claim, r row) (_ backend.Lease, granted bool, err error) {
	silent := s.observe(c.Election, &r, c)
	quarantined := r.stale && silent == ""
	mine := r.entry.Attempt == c.Attempt // before the entry is changed
	judged, now := c, r.entry.Record(c.Election, r.clock)
	if quarantined {
		judged.Abandoned = nil // others may have come after it
	}
	l, err := r.entry.Acquire(judged, r.clock)
	switch {
	case err != nil:
		return backend.Lease{}, false, err
	case !mine:
		return s.take(ctx, c, s.grant(texts, c, silent, r.epoch))
	case quarantined:
		return backend.Lease{}, false, &backend.HeldError{Record: now} // others may have come after it
	}
	l, err = s.renew(ctx, texts, l) // a repeat of the call that was granted
	if isNotHeld(err) {
		return backend.Lease{}, false, nil
	}
	return l, err == nil, err
}

// take sends a grant, which is the last of sts.
func (s *Store) take(ctx context.Context, c backend.Claim, sts ...statement) (_ backend.Lease, granted bool, err error) {
	all, err := s.write(ctx, sts...)
	if err != nil {
		return backend.Lease{}, false, err
	}
	grant := all[len(all)-1]
	if len(grant) == 0 {
		return backend.Lease{}, false, nil
	}
	s.seen.Forget(c.Election)
	l, err := lease(grant, c)
	return l, err == nil, err
}

func (s *Store) grant(texts *statements, c backend.Claim, silent, epoch string) statement {
	seen := ""
	if c.Seen.Known {
		seen = strconv.FormatInt(c.Seen.Counter, 10)
	}
	abandoned := make([]string, len(c.Abandoned))
	for i, a := range c.Abandoned {
		abandoned[i] = a.String()
	}
	return statement{texts.acquire, s.key(c.Election, encode(c.Candidate.ID), c.Candidate.Encode(), c.Attempt.String(), micros(c.TTL),
		strconv.FormatInt(c.Floor, 10), seen, array(abandoned), strconv.Itoa(backend.Version), string(s.options.Expiry), silent, epoch)}
}

// lease reads the token of a grant.
func lease(r rows, c backend.Claim) (backend.Lease, error) {
	token, err := strconv.ParseInt(r[0][0], 10, 64)
	if err != nil || token <= 0 || token > backend.MaxToken {
		return backend.Lease{}, fmt.Errorf("the token %q is out of range", r[0][0])
	}
	return backend.Lease{Election: c.Election, Holder: c.Candidate.ID, Token: token, Attempt: c.Attempt, TTL: c.TTL}, nil
}

// Renew implements backend.LeaseStore.
func (s *Store) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	var renewed backend.Lease
	err := s.do(ctx, func(ctx context.Context, texts *statements) (err error) {
		renewed, err = s.renew(ctx, texts, l)
		return err
	})
	if err != nil {
		return backend.Lease{}, err
	}
	return renewed, nil
}

func (s *Store) renew(ctx context.Context, texts *statements, l backend.Lease) (backend.Lease, error) {
	all, err := s.write(ctx, statement{texts.renew, s.key(l.Election, encode(l.Holder), strconv.FormatInt(l.Token, 10), l.Attempt.String(), micros(l.TTL))})
	switch {
	case err != nil:
		return backend.Lease{}, err
	case len(all[0]) == 0:
		return backend.Lease{}, backend.ErrNotHeld
	}
	return backend.Lease{Election: l.Election, Holder: l.Holder, Token: l.Token, Attempt: l.Attempt, TTL: l.TTL}, nil
}

// Release implements backend.LeaseStore.
func (s *Store) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	return s.do(ctx, func(ctx context.Context, texts *statements) error {
		release := statement{texts.release, s.key(l.Election, encode(l.Holder), strconv.FormatInt(l.Token, 10), l.Attempt.String(), encode(h.To), micros(h.For))}
		all, err := s.write(ctx, release, s.get(texts, l.Election))
		if err != nil || len(all[0]) > 0 {
			return err
		}
		r, found, err := parseRow(all[1])
		switch {
		case err != nil:
			return err
		case found && r.entry.Released && r.entry.Attempt == l.Attempt && (l.Token == 0 || l.Token == r.entry.Token):
			return nil // by an earlier call
		}
		return backend.ErrNotHeld
	})
}

// Raise implements backend.TokenRaiser.
func (s *Store) Raise(ctx context.Context, election string, token int64) error {
	if token <= 0 || token > backend.MaxToken {
		return fmt.Errorf("%w: token %d is not within 1 and %d", backend.ErrInvalid, token, int64(backend.MaxToken))
	}
	return s.do(ctx, func(ctx context.Context, texts *statements) error {
		raise := statement{texts.raise, s.key(election, strconv.FormatInt(token, 10), strconv.Itoa(backend.Version))}
		all, err := s.write(ctx, statement{texts.seed, s.key(election)}, raise)
		if err == nil && len(all[1]) == 0 {
			return fmt.Errorf("%w: token %d is far above the counter", backend.ErrInvalid, token)
		}
		return err
	})
}

func isNotHeld(err error) bool { return backend.ClassOf(err) == backend.NotHeld }

// array is a list in the server's text form.
func array(list []string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var b strings.Builder
	b.WriteByte('{')
	for i, text := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + quote.Replace(text) + `"`)
	}
	b.WriteByte('}')
	return b.String()
}
