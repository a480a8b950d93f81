package roster

import "math"

// Option is a candidate that could lead.
type Option struct {
	ID     string
	Score  float64 // NaN stands for less than any number
	Ready  bool
	Barred bool // it may not take an election from another
}

// Choose returns which of the options should lead in place of the leader, and false when it is to go on: the one with the highest score that is above the leader's, of equal ones the first by ID. The order of
// the options makes no difference, and the leader's own place among them none either.
func Choose(leader string, score float64, options []Option) (id string, better bool) {
	most := worth(score)
	for _, o := range options {
		if o.ID == leader || !o.Ready || o.Barred {
			continue
		}
		if s := worth(o.Score); s > most || better && s == most && o.ID < id {
			id, most, better = o.ID, s, true
		}
	}
	return id, better
}

func worth(score float64) float64 {
	if math.IsNaN(score) {
		return math.Inf(-1)
	}
	return score
}
