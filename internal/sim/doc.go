// Package sim runs the elector's state machine, the one of production, in a world that is drawn from a seed: simulated stores, a network, clocks and processes of its own, and
// faults of some sixty kinds. What can't be checked on a real store in years of waiting, because it takes two accidents within one second, is met here many times a minute.
//
// One number is a whole run: the same seed gives the same run, to the last bit. A run is single-threaded; time is a number that jumps from event to event.
//
//	r := sim.Run(4711, sim.Options{})
//	for _, v := range r.Violations { fmt.Println(v) }
//
// # What a run consists of
//
//   - A world (worlds.go): a model of a store, settings, and which invariants they promise. Some worlds promise less, as the real stores which they stand for: there, the
//     violation must be seen sooner or later, else the checker is blind.
//   - A plan (plan.go): the faults, each with its kind, time, length and target. It is drawn before the run, so that one fault can be left out and all others stay as they are.
//   - Three to seven processes (process.go), each with clocks of its own and a machine for each of one or two elections. They imitate the shell of package elector: the order of
//     actions, when the clocks are read, how requests time out and what watches report.
//   - Two guards (guard.go), a resource without one, and one whose guard doesn't compare attempts.
//   - The checker (check.go), which looks at each step, each belief, each change at the store and each write at a guard while the run goes on.
package sim
