package fence

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestTokenTextFormGoesThereAndBack(t *testing.T) {
	for _, want := range []Token{{Value: 1}, {Value: MaxValue, Attempt: Attempt{0xab, 15: 0x01}}} {
		text, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got Token
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
}

func TestMalformedTokensAreRefusedWithAReason(t *testing.T) {
	for _, s := range []string{"", "0", "-1", "x", "9007199254740992", "1.zz", "1.abcd", "1." + strings.Repeat("g", 32), "1e3"} {
		if got, err := Parse(s); !errors.Is(err, ErrToken) {
			t.Errorf("Parse(%q) = %v, %v; want ErrToken", s, got, err)
		}
	}
}

func TestAdmit(t *testing.T) {
	now := time.UnixMicro(1_790_000_000_000_000)
	a, b := Attempt{1}, Attempt{2}
	cases := []struct {
		name        string
		mark, given Token
		want        error
	}{
		{"first token of a fresh guard, counted", Token{}, Token{1, a}, nil},
		{"first token of a fresh guard, microseconds (DX11)", Token{}, Token{now.UnixMicro(), a}, nil},
		{"the same term again", Token{5, a}, Token{5, a}, nil},
		{"a higher one", Token{5, a}, Token{6, b}, nil},
		{"from a counter to microseconds (DX11)", Token{5, a}, Token{now.UnixMicro() + 5, b}, nil},
		{"a lower one", Token{5, a}, Token{4, a}, ErrStale},
		{"an equal one of another attempt", Token{5, a}, Token{5, b}, ErrStale},
		{"zero", Token{}, Token{}, ErrInvalid},
		{"negative", Token{}, Token{-3, a}, ErrInvalid},
		{"absurd (DX11)", Token{5, a}, Token{1<<53 - 3, a}, ErrInvalid},
		{"beyond the greatest", Token{}, Token{math.MaxInt64, a}, ErrInvalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			mark, err := Admit(c.mark, c.given, now)
			if !errors.Is(err, c.want) {
				t.Fatalf("got error %v, want %v", err, c.want)
			}
			if want := map[bool]Token{true: c.given, false: c.mark}[c.want == nil]; mark != want {
				t.Errorf("mark is %v, want %v", mark, want)
			}
		})
	}
}

// DX12: neither is stale for the other, and no two terms chase each other.
func TestTwoElectionsOnOneGuardDoNotFenceEachOther(t *testing.T) {
	var g Memory
	ctx := t.Context()
	if err := g.Seal(ctx, "a", Token{Value: 9}); err != nil {
		t.Fatal(err)
	}
	if err := g.Seal(ctx, "b", Token{Value: 2}); err != nil {
		t.Errorf("election b was fenced by election a: %v", err)
	}
	var stale *StaleError
	if err := g.Seal(ctx, "a", Token{Value: 8}); !errors.As(err, &stale) || stale.Mark.Value != 9 {
		t.Errorf("got %v, want a StaleError with mark 9", err)
	}
}

func TestAFencedWriteDoesNotRun(t *testing.T) {
	var g Memory
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := g.Do(ctx, "e", Token{Value: 2}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	refuse := func() error { t.Error("the write ran"); return nil }
	if err := g.Do(ctx, "e", Token{Value: 1}, refuse); !errors.Is(err, ErrStale) {
		t.Error(err)
	}
	ended := errors.New("ended")
	cancel(ended)
	if err := g.Do(ctx, "e", Token{Value: 3}, refuse); !errors.Is(err, ended) {
		t.Error(err)
	}
	if g.Mark("e").Value != 2 {
		t.Errorf("mark moved to %v", g.Mark("e"))
	}
}

func TestTokenTravelsInAContext(t *testing.T) {
	if _, ok := FromContext(t.Context()); ok {
		t.Error("a token came from nowhere")
	}
	want := Token{Value: 3, Attempt: Attempt{4}}
	if got, ok := FromContext(NewContext(t.Context(), want)); !ok || got != want {
		t.Errorf("got %v", got)
	}
}
