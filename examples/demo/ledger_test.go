package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenure-go/tenure/fence"
)

func TestTheLedgerRefusesAStaleLeader(t *testing.T) {
	t.Parallel()
	needProcesses(t)
	l := &ledger{path: filepath.Join(t.TempDir(), "ledger")}
	old, next := fence.Token{Value: 1, Attempt: fence.Attempt{1}}, fence.Token{Value: 2, Attempt: fence.Attempt{2}}
	if err := l.Seal(t.Context(), election, old); err != nil {
		t.Fatal(err)
	}
	done, err := l.Settle(old, 2)
	if want := (settled{from: 1, to: 2, cents: 12550 + 899}); err != nil || done != want {
		t.Errorf("%v, %v", done, err)
	}
	if err := l.Seal(t.Context(), election, next); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Settle(old, 1); !errors.Is(err, fence.ErrStale) {
		t.Errorf("the old leader got %v", err)
	}
	if err := l.Seal(t.Context(), election, old); !errors.Is(err, fence.ErrStale) {
		t.Errorf("the old leader's seal got %v", err)
	}
	if done, err := l.Settle(next, 1); err != nil || done.String() != "settled invoice 3: 310.00 EUR" {
		t.Errorf("%v, %v", done, err)
	}
	if done, err := l.Settle(next, 0); err != nil || done.String() != "settled no invoice" {
		t.Errorf("%v, %v", done, err)
	}
}

func TestABrokenLedgerIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	needProcesses(t)
	for _, text := range []string{"what is this\n", "1 2\n", "x 1 1\n"} {
		l := &ledger{path: filepath.Join(t.TempDir(), "ledger")}
		if err := os.WriteFile(l.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Settle(fence.Token{Value: 1}, 1); err == nil {
			t.Errorf("%q was continued", text)
		}
	}
}
