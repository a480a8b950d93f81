package conformance

import (
	"context"
	"sync"
)

// together is how many cases Check plays at a time; most of them wait.
const together = 8

// Check plays every case without package testing. The report tells what became of them; a case that ctx cut short is undecided.
func Check(ctx context.Context, s Suite) *Report {
	s.Bubble = false
	cases := Cases()
	report := &Report{Target: s.Target, Results: make([]Result, len(cases))}
	var done sync.WaitGroup
	slots := make(chan struct{}, together)
	if s.Serverless {
		slots = make(chan struct{}, together/2) // a file has one writer at a time
	}
	one := func(i int, c Case) {
		result, limits := play(ctx, s, c, c.Rule.Slug+"/"+c.Name)
		report.set(i, limits, result)
		if s.Progress != nil {
			s.Progress(result)
		}
	}
	for i, c := range cases {
		if c.Alone {
			continue
		}
		slots <- struct{}{}
		done.Go(func() {
			defer func() { <-slots }()
			one(i, c)
		})
	}
	done.Wait()
	for i, c := range cases {
		if c.Alone {
			one(i, c)
		}
	}
	return report
}
