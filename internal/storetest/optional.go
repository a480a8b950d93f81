package storetest

import (
	"testing"

	"github.com/tenure-go/tenure/backend"
)

// Enlist lists a candidate.
func (k Kit) Enlist(t testing.TB, s backend.LeaseStore, e backend.Entry) {
	t.Helper()
	if err := Inner[backend.Roster](t, s).Enlist(Deadline(t, k.Ample), e); err != nil {
		t.Fatalf("enlist %q: %v", e.Candidate.ID, err)
	}
}

// Candidates reads who is listed.
func (k Kit) Candidates(t testing.TB, s backend.LeaseStore, election string) []backend.Entry {
	t.Helper()
	return Must[[]backend.Entry](t)(Inner[backend.Roster](t, s).Candidates(Deadline(t, k.Ample), election))
}

// Listed is the IDs of those who are listed.
func (k Kit) Listed(t testing.TB, s backend.LeaseStore, election string) (ids []string) {
	t.Helper()
	for _, e := range k.Candidates(t, s, election) {
		ids = append(ids, e.Candidate.ID)
	}
	return ids
}

// Elections reads one page of the elections' names.
func (k Kit) Elections(t testing.TB, s backend.LeaseStore, after string, limit int) []string {
	t.Helper()
	return Must[[]string](t)(Inner[backend.Lister](t, s).Elections(Deadline(t, k.Ample), after, limit))
}

// Forget reads an election's record and has it removed.
func (k Kit) Forget(t testing.TB, s backend.LeaseStore, election string) {
	t.Helper()
	if err := Inner[backend.Forgetter](t, s).Forget(Deadline(t, k.Ample), k.Get(t, s, election)); err != nil {
		t.Fatal(err)
	}
}
