package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
	"github.com/tenure-go/tenure/conformance"
)

func TestConformance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.db")
	conformance.Run(t, conformance.Suite{
		Open: func(t conformance.T) backend.LeaseStore {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		},
		Target: "SQLite", Serverless: true,
		Plant: func(t conformance.T, election, moved string, version int) {
			alter(t, path, `INSERT INTO tenure_lease VALUES (?, 0, '', '', 0, '', 0, 0, 0, 0, 0, '', 0, ?, ?, '')
				ON CONFLICT (election) DO UPDATE SET moved_to = excluded.moved_to, version = excluded.version`, election, moved, version)
		},
		Remove: func(t conformance.T, election string) {
			alter(t, path, "DELETE FROM tenure_lease WHERE election = ?", election)
		},
		Strict: true,
	})
}
