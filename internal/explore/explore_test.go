package explore

import (
	"slices"
	"testing"
)

func TestEverythingHolds(t *testing.T) {
	for _, w := range []World{
		{Candidates: 2, Messages: 3, TTL: 3, Rates: []int{-100, 0, 100}, Crashes: 1, Pauses: 1, Losses: 1, Copies: 1, Most: 60_000},
		{Candidates: 3, Messages: 2, TTL: 3, Rates: []int{0}, Crashes: 1, Most: 40_000},
		{Candidates: 2, Messages: 1, TTL: 3, Rates: []int{0}, Most: 60_000},
	} {
		r := Search(w)
		if r.Broken != "" || r.States < w.Most && !r.Fixpoint {
			t.Errorf("%q after %d states, depth %d: %q", r.Broken, r.States, r.Depth, r.Trace)
		}
	}
}

// A search that takes two states for one that aren't would miss what only one of them leads to.
func TestStatesThatLookAlikeGoOnAlike(t *testing.T) {
	for _, w := range []World{
		{Candidates: 2, Messages: 1, TTL: 3, Rates: []int{0}, Most: 15_000},
		{Candidates: 2, Messages: 2, TTL: 3, Rates: []int{-100, 100}, Crashes: 1, Pauses: 1, Losses: 1, Copies: 1, Most: 15_000},
	} {
		first := map[uint64]*state{}
		layer, pairs := w.begins(), 0
		for len(first) < w.Most {
			var next []*state
			for _, s := range layer {
				for _, c := range s.next(nil) {
					n := new(picture).of(c)
					same, known := first[n]
					if !known {
						first[n] = c
						next = append(next, c)
						continue
					}
					pairs++
					if a, b := leadsTo(same), leadsTo(c); !slices.Equal(a, b) {
						t.Fatalf("two states look alike and lead to %d and %d others: %q and %q", len(a), len(b), same.story(), c.story())
					}
				}
			}
			layer = next
		}
		t.Logf("%d states, %d pairs", len(first), pairs)
	}
}

func leadsTo(s *state) (numbers []uint64) {
	for _, c := range s.next(nil) {
		numbers = append(numbers, new(picture).of(c))
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// Which candidate is which doesn't matter, and neither does when all of it happens.
func TestPicturesDontTellNames(t *testing.T) {
	w := World{Candidates: 2, Messages: 3, TTL: 3, Rates: []int{0}}
	s := w.begins()[0]
	a, b := s.after("", 0), s.after("", 1)
	a.arrive(0)
	b.arrive(1)
	if new(picture).of(a) != new(picture).of(b) {
		t.Error("it matters which of two candidates has looked")
	}
	if new(picture).of(a) == new(picture).of(s) {
		t.Error("it doesn't matter that a candidate has looked")
	}
}
