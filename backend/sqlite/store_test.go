package sqlite_test

import (
	"crypto/rand"
	"database/sql"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newAttempt() backend.Attempt {
	var a backend.Attempt
	_, _ = rand.Read(a[:]) // never fails
	return a
}

func claim(election, candidate string, ttl time.Duration) backend.Claim {
	return backend.Claim{Election: election, Candidate: backend.Candidate{ID: candidate}, TTL: ttl, Attempt: newAttempt()}
}

// exec changes the file behind the store's back.
func exec(t conformance.T, path, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
