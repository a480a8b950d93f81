package fence

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// Attempt identifies one attempt to become leader: 128 random bits, drawn anew for each term. Two terms never share
// one, whatever their holders are called. The zero value means "none".
type Attempt [16]byte

// ErrAttempt is wrapped by every error of [ParseAttempt].
var ErrAttempt = errors.New("fence: malformed attempt")

// ParseAttempt reads the form that [Attempt.String] writes: 32 hexadecimal digits. The empty string is the zero Attempt.
func ParseAttempt(s string) (Attempt, error) {
	var a Attempt
	if s == "" {
		return a, nil
	}
	if hex.DecodedLen(len(s)) != len(a) {
		return a, fmt.Errorf("%w: want 32 hexadecimal digits, got %d characters", ErrAttempt, len(s))
	}
	if _, err := hex.Decode(a[:], []byte(s)); err != nil {
		return Attempt{}, fmt.Errorf("%w: %w", ErrAttempt, err)
	}
	return a, nil
}

// String returns 32 hexadecimal digits, or the empty string for the zero Attempt.
func (a Attempt) String() string {
	if a.IsZero() {
		return ""
	}
	return hex.EncodeToString(a[:])
}

// IsZero reports whether a is the zero Attempt, which stands for "none".
func (a Attempt) IsZero() bool { return a == Attempt{} }
