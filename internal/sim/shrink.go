package sim

import "slices"

// Shrink looks for the smallest plan that still violates the same invariant, and returns its run with a trace. A run without violations is returned as it is.
func Shrink(seed uint64, o Options) Result {
	o.Trace = false
	first := Run(seed, o)
	if len(first.Violations) == 0 {
		o.Trace = true
		return Run(seed, o)
	}
	s := shrinker{seed: seed, o: o, of: first.Violations[0].Invariant}
	plan := slices.DeleteFunc(slices.Clone(first.Plan), func(x Occurrence) bool {
		return o.Without[x.Kind] || x.At > int64(first.Violations[0].At)
	})
	s.o.Without = nil
	if !s.fails(plan) { // what was to come later mattered after all
		plan = first.Plan
		s.o.Without = o.Without
	}
	plan = s.dropKinds(plan)
	plan = s.dropSingle(plan)
	plan = s.shorten(plan)
	s.o.Plan, s.o.Trace = plan, true
	return Run(seed, s.o)
}

type shrinker struct {
	seed uint64
	o    Options
	of   Invariant
}

// fails reports that a plan still leads to the violation.
func (s *shrinker) fails(plan []Occurrence) bool {
	o := s.o
	o.Plan = slices.Clone(plan)
	if o.Plan == nil {
		o.Plan = []Occurrence{}
	}
	r := Run(s.seed, o)
	return len(r.Violations) > 0 && r.Violations[0].Invariant == s.of
}

func (s *shrinker) dropKinds(plan []Occurrence) []Occurrence {
	for k := range kinds {
		without := slices.DeleteFunc(slices.Clone(plan), func(o Occurrence) bool { return o.Kind == k })
		if len(without) < len(plan) && s.fails(without) {
			plan = without
		}
	}
	return plan
}

// dropSingle leaves out halves, quarters and single occurrences as long as it helps.
func (s *shrinker) dropSingle(plan []Occurrence) []Occurrence {
	for size := max(len(plan)/2, 1); ; size = max(size/2, 1) {
		helped := false
		for at := 0; at < len(plan); {
			without := slices.Delete(slices.Clone(plan), at, min(at+size, len(plan)))
			if s.fails(without) {
				plan, helped = without, true
			} else {
				at += size
			}
		}
		if size == 1 && !helped {
			return plan
		}
	}
}

// shorten halves the length of each fault as long as the violation stays.
func (s *shrinker) shorten(plan []Occurrence) []Occurrence {
	plan = slices.Clone(plan)
	for i := range plan {
		if specs[plan[i].Kind].whole {
			continue
		}
		for old := plan[i].For; plan[i].For > 1_000_000; old = plan[i].For {
			plan[i].For /= 2
			if !s.fails(plan) {
				plan[i].For = old
				break
			}
		}
	}
	return plan
}
