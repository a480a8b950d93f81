package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The power can't be cut in a test; this is what SQLite was asked to do about it.
func TestGrantsWaitForTheDiskAndRenewalsDont(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "leases.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for d, want := range map[durability]int{onDisk: 2, soon: 1} {
		err := s.current.Load().transaction(t.Context(), d, func(ctx context.Context, q querier) error {
			var got int
			if err := q.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&got); err != nil {
				return err
			}
			if got != want {
				t.Errorf("%s: synchronous is %d, want %d", d, got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The file is removed after the call has looked for it and before the commit.
func TestNothingIsCommittedToAFileThatIsGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "leases.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	err = s.current.Load().transaction(t.Context(), soon, func(context.Context, querier) error { return os.Remove(path) })
	if !errors.Is(err, errReplaced) {
		t.Errorf("the transaction returned %v", err)
	}
}
