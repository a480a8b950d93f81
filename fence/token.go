package fence

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxValue is the greatest value of a token: every store keeps it exactly, also those that count in doubles.
const MaxValue = 1<<53 - 1

// Token is what a leader shows to the resources that it writes to. Values of one election strictly grow from term to
// term; the attempt tells apart two terms that were given the same value by a store which had lost data.
// The zero Token is no token: every guard refuses it.
type Token struct {
	Value   int64
	Attempt Attempt
}

// ErrToken is wrapped by every error of [Parse].
var ErrToken = errors.New("fence: malformed token")

// Parse reads the text form of a token, "<value>.<attempt in hex>", as [Token.String] writes it. A value without an
// attempt ("17") is read too. It returns an error that wraps [ErrToken] for all else.
func Parse(s string) (Token, error) {
	value, attempt, _ := strings.Cut(s, ".")
	v, err := strconv.ParseInt(value, 10, 64)
	if err != nil || v <= 0 || v > MaxValue {
		return Token{}, fmt.Errorf("%w: %q: the value must be a whole number from 1 to %d", ErrToken, s, int64(MaxValue))
	}
	a, err := ParseAttempt(attempt)
	if err != nil {
		return Token{}, fmt.Errorf("%w: %q: %w", ErrToken, s, err)
	}
	return Token{Value: v, Attempt: a}, nil
}

// String returns the text form "<value>.<attempt in hex>", fit for a header or an environment variable.
func (t Token) String() string {
	if t.Attempt.IsZero() {
		return strconv.FormatInt(t.Value, 10)
	}
	return strconv.FormatInt(t.Value, 10) + "." + t.Attempt.String()
}

// IsZero reports whether t is the zero Token.
func (t Token) IsZero() bool { return t == Token{} }

// MarshalText writes the text form.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the text form; see [Parse].
func (t *Token) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}

type contextKey struct{}

// NewContext returns a context that carries t, so that code far below the leader's function can show it.
func NewContext(ctx context.Context, t Token) context.Context {
	return context.WithValue(ctx, contextKey{}, t)
}

// FromContext returns the token that [NewContext] put into ctx, and whether there is one. The elector puts the term's token
// into the context of the leader's function.
func FromContext(ctx context.Context) (Token, bool) {
	t, ok := ctx.Value(contextKey{}).(Token)
	return t, ok
}
