package fence

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// headroom is how far a token may lie above everything that a guard has seen. Tokens are small counters or a clock's
// microseconds; anything farther away (2^48 µs are nine years) is a mistake, and to accept it would lock out every
// later leader for ever.
const headroom = 1 << 48

// Errors of guards. Use errors.Is.
var (
	// ErrStale says that the token is lower than the highest one that the guard has seen, or equal to it but of another
	// attempt: another term has begun. Stop writing. The error is a [*StaleError], which carries the mark.
	ErrStale = errors.New("fence: stale token")
	// ErrInvalid says that the token can't be one of the election: not positive, above [MaxValue], or absurdly far above all that
	// the guard and its clock know. Nothing was written and the mark is as it was.
	ErrInvalid = errors.New("fence: invalid token")
)

// StaleError tells which token a guard refused and what it has seen. errors.Is(err, ErrStale) holds.
type StaleError struct {
	Given Token // the token that was refused
	Mark  Token // the highest token that the guard has seen
}

// Error implements error.
func (e *StaleError) Error() string {
	return fmt.Sprintf("fence: token %s is stale: the guard has seen %s", e.Given, e.Mark)
}

// Is makes errors.Is(err, ErrStale) true.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// Sealer is a guard as the elector sees it: something that can be told of a new term before the term's work begins.
//
// Seal raises the mark of the election to t and returns nil when it is at t, also when it was before. It returns an error
// for which errors.Is(err, ErrStale) holds when the guard has seen a higher token, or an equal one of another attempt. Any other
// error means that the outcome is unknown: the seal may have been applied, and may be tried again. Seal must return soon after
// ctx ends, and be safe for concurrent use.
type Sealer interface {
	Seal(ctx context.Context, election string, t Token) error
}

// Admit is the rule of every guard: given the highest token seen so far (zero: none) it returns the mark to keep, which is the
// token itself, or an error and the old mark. now is the guard's own wall clock; it only bounds how far a token may leap.
// Admit is pure: the caller makes check, mark and write one atomic step.
func Admit(mark, t Token, now time.Time) (Token, error) {
	switch {
	case t.Value <= 0 || t.Value > MaxValue:
		return mark, fmt.Errorf("%w: %d is not within 1 and %d", ErrInvalid, t.Value, int64(MaxValue))
	case t.Value > max(mark.Value, now.UnixMicro())+headroom:
		return mark, fmt.Errorf("%w: %d is absurdly far above the mark %d", ErrInvalid, t.Value, mark.Value)
	case t.Value < mark.Value, t.Value == mark.Value && t.Attempt != mark.Attempt:
		return mark, &StaleError{Given: t, Mark: mark}
	}
	return t, nil
}
