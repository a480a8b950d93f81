package memory

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Candidates that died without a word leave nothing behind in a server that lives on.
func TestEntriesOfDeadCandidatesAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		defer s.Close()
		enlist := func(election, id string, ttl time.Duration) {
			if err := s.Enlist(t.Context(), backend.Entry{Election: election, Candidate: backend.Candidate{ID: id}, TTL: ttl}); err != nil {
				t.Fatal(err)
			}
		}
		enlist("a", "dead", time.Second)
		enlist("b", "dead", time.Second)
		enlist("b", "alive", time.Hour)
		<-time.After(2 * sweepEvery)
		enlist("c", "new", time.Hour)
		if r := s.server.rosters; len(r) != 2 || len(r["b"]) != 1 || len(r["c"]) != 1 {
			t.Errorf("the server keeps %v", r)
		}
	})
}
