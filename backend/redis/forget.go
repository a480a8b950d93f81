package redis

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure/backend"
)

// Forget implements backend.Forgetter. An observed lease that the store has seen silent for its TTL counts as ended. The last attempt is forgotten with the record: a late copy of a call that was
// given up long ago may be granted once more, and keeps the election for a TTL.
func (s *Store) Forget(ctx context.Context, r backend.Record) error {
	silent, err := s.forget(ctx, r, "")
	if silent != "" { // its holder has been for its TTL
		_, err = s.forget(ctx, r, silent)
	}
	return err
}

// forget asks once, as acquire does.
func (s *Store) forget(ctx context.Context, r backend.Record, silent string) (sign string, err error) {
	a, err := s.run(ctx, forgetScript, r.Election, r.Counter, r.Attempt.String(), s.names.channel(r.Election), silent)
	if err != nil {
		return "", err
	}
	switch a.status {
	case "forgotten":
		s.silence.Forget(r.Election)
		return "", nil
	case "held":
		now, sign, err := s.observe(r.Election, a)
		if err != nil {
			return "", err
		}
		return sign, &backend.HeldError{Record: now}
	case "ahead":
		return "", fmt.Errorf("%w: the counter %s is not behind the server's clock in microseconds, from which the next token would come; forget it when that clock has passed it", backend.ErrInvalid, a.part(0))
	}
	return "", a.refusal(0)
}
