package core

import (
	"cmp"
	"slices"
)

// Load is how many elections one candidate of a group holds.
type Load struct {
	ID    string
	Terms int
	Most  int // it holds no more than these; zero: no bound
}

// Targets is how many of total elections each candidate should hold: equal shares, within what each can. What doesn't divide goes to those who hold most already, so that little moves.
// Every candidate that knows the same loads comes to the same result. The reply is in the order of loads.
func Targets(loads []Load, total int) []int {
	order := make([]int, len(loads))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := loads[i], loads[j]
		return cmp.Or(cmp.Compare(b.Terms, a.Terms), cmp.Compare(a.ID, b.ID))
	})
	targets := make([]int, len(loads))
	for total > 0 {
		open := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return loads[i].Most > 0 && targets[i] >= loads[i].Most })
		if len(open) == 0 {
			break // more elections than the candidates take together
		}
		share := max(1, total/len(open))
		for _, i := range open {
			more := min(share, total)
			if loads[i].Most > 0 {
				more = min(more, loads[i].Most-targets[i])
			}
			targets[i] += more
			total -= more
		}
	}
	return targets
}

// Moves is what a candidate should hold, and to whom it should hand over one election each. Candidates that know the same loads don't hand over to the same place twice.
func Moves(loads []Load, total int, self string) (target int, to []string) {
	loads = slices.SortedFunc(slices.Values(loads), func(a, b Load) int { return cmp.Compare(a.ID, b.ID) })
	targets := Targets(loads, total)
	var places []string // one for each election that a candidate lacks
	for i, l := range loads {
		for range targets[i] - l.Terms {
			places = append(places, l.ID)
		}
	}
	for i, l := range loads {
		excess := min(max(0, l.Terms-targets[i]), len(places))
		if l.ID == self {
			return targets[i], places[:excess]
		}
		places = places[excess:]
	}
	return 0, nil
}
