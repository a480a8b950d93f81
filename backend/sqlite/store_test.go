package sqlite_test

import (
	"crypto/rand"
	"time"

	"github.com/tenure-go/tenure/backend"
)

func newAttempt() backend.Attempt {
	var a backend.Attempt
	_, _ = rand.Read(a[:]) // never fails
	return a
}

func claim(election, candidate string, ttl time.Duration) backend.Claim {
	return backend.Claim{Election: election, Candidate: backend.Candidate{ID: candidate}, TTL: ttl, Attempt: newAttempt()}
}
