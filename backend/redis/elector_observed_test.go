package redis

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/testenv"
)

// DX19, PE14: short-lived challengers overcome a dead holder of an observed lease, one by one, and leave a living one alone.
func TestASingleTryOvercomesADeadObservedHolder(t *testing.T) {
	t.Parallel()
	url := testenv.Redis(t).URL() + "?expiry=observed"
	open := func(id string) (*elector.Elector, backend.LeaseStore) {
		s, err := backend.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		e, err := elector.New(elector.Config{Store: s, Election: t.Name(), TTL: 2 * time.Second, Candidate: backend.Candidate{ID: id}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e, s
	}
	_, dead := open("dead")
	old, err := dead.Acquire(t.Context(), backend.Claim{Election: t.Name(), Candidate: backend.Candidate{ID: "dead"}, TTL: 2 * time.Second, Attempt: backend.Attempt{1}})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := open("a")
	term, err := e.TryCampaign(t.Context())
	if err != nil || term.Token().Value <= old.Token {
		t.Fatalf("a try against a dead holder under token %d: %v", old.Token, err)
	}
	other, _ := open("b")
	if _, err := other.TryCampaign(t.Context()); !errors.Is(err, backend.ErrHeld) || !term.Valid() {
		t.Errorf("a try against a living holder: %v; the holder leads: %v", err, term.Valid())
	}
	if err := term.Resign(t.Context()); err != nil {
		t.Error(err)
	}
}
