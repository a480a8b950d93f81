package core

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestTargetsAreFairAndMoveLittle(t *testing.T) {
	for _, c := range []struct {
		terms, want string
		loads       []Load
		total       int
	}{
		{loads: []Load{{ID: "a"}, {ID: "b"}, {ID: "c"}}, total: 100, want: "[34 33 33]"},
		{loads: []Load{{"a", 33, 0}, {"b", 34, 0}, {"c", 33, 0}}, total: 100, want: "[33 34 33]"},
		{loads: []Load{{"a", 33, 0}, {"b", 34, 0}, {"c", 33, 0}, {ID: "d"}}, total: 100, want: "[25 25 25 25]"},
		{loads: []Load{{"a", 0, 10}, {ID: "b"}, {ID: "c"}}, total: 100, want: "[10 45 45]"},
		{loads: []Load{{"a", 0, 3}, {"b", 0, 4}}, total: 100, want: "[3 4]"},
		{loads: []Load{{"a", 2, 0}, {"b", 0, 0}}, total: 1, want: "[1 0]"},
		{loads: nil, total: 5, want: "[]"},
	} {
		if got := fmt.Sprint(Targets(c.loads, c.total)); got != c.want {
			t.Errorf("%+v of %d: %s, want %s", c.loads, c.total, got, c.want)
		}
	}
}

// Whatever the loads, the moves of all candidates together lead to the targets, and no more elections move than must.
func TestMovesLeadToTheTargets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		loads := make([]Load, 1+r.IntN(6))
		total := 0
		for i := range loads {
			loads[i] = Load{ID: fmt.Sprint("c", r.IntN(1000), "-", i), Terms: r.IntN(40)}
			total += loads[i].Terms
		}
		targets, after, moved, must := map[string]int{}, map[string]int{}, 0, 0
		for i, n := range Targets(loads, total) {
			targets[loads[i].ID] = n
			must += max(0, loads[i].Terms-n)
		}
		for _, l := range loads {
			after[l.ID] += l.Terms
			target, to := Moves(loads, total, l.ID)
			if target != targets[l.ID] {
				t.Fatalf("%+v: target %d of %s, want %d", loads, target, l.ID, targets[l.ID])
			}
			for _, id := range to {
				after[l.ID]--
				after[id]++
				moved++
			}
		}
		if fmt.Sprint(after) != fmt.Sprint(targets) || moved != must {
			t.Fatalf("%+v: %v after %d moves, want %v after %d", loads, after, moved, targets, must)
		}
	}
}
