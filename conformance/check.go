package conformance

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// together is how many cases Check plays at a time; most of them wait.
const together = 8

// Check plays every case without package testing. The report tells what became of them; a case that ctx cut short is undecided.
func Check(ctx context.Context, s Suite) *Report {
	s.Bubble = false
	report := new(Report)
	var done sync.WaitGroup
	slots := make(chan struct{}, together)
	for _, c := range Cases() {
		slots <- struct{}{}
		done.Go(func() {
			defer func() { <-slots }()
			result, store := play(ctx, s, c, c.Rule.Slug+"/"+c.Name)
			report.add(store, result)
		})
	}
	done.Wait()
	order := make(map[string]int)
	for i, c := range Cases() {
		order[c.Name] = i
	}
	slices.SortFunc(report.Results, func(a, b Result) int {
		if d := order[a.Case.Name] - order[b.Case.Name]; d != 0 {
			return d
		}
		return strings.Compare(a.Case.Name, b.Case.Name)
	})
	return report
}
