package memory_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// A counter far above the clock is not made the floor of all elections: their tokens would be used up with it.
func TestAnAbsurdCounterIsNotForgotten(t *testing.T) {
	s := memory.New()
	defer s.Close()
	var r backend.Record
	for range 2 { // each raise may go a headroom above the last
		if err := s.Raise(t.Context(), "far", max(r.Counter, time.Now().UnixMicro())+backend.FloorHeadroom-1); err != nil {
			t.Fatal(err)
		}
		var err error
		if r, err = s.Get(t.Context(), "far"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Forget(t.Context(), r); !errors.Is(err, backend.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	l, err := s.Acquire(t.Context(), backend.Claim{Election: "other", Candidate: backend.Candidate{ID: "a"}, TTL: 1e9, Attempt: backend.Attempt{1}})
	if err != nil || l.Token != 1 {
		t.Errorf("another election has token %d, %v", l.Token, err)
	}
	if again, err := s.Get(t.Context(), "far"); err != nil || again != r {
		t.Errorf("the record is %+v, %v; it was %+v", again, err, r)
	}
}
