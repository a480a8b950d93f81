package sim

// Invariant is something that must never happen the other way round. The numbers are those of docs/simulation.md.
type Invariant uint8

// Invariants, and at the end what a checker must be able to see at resources without a proper guard.
const (
	I1  Invariant = iota // checker.believes
	I1a                  // checker.believes
	I2                   // checker.granted, begins
	I3                   // checker.effect
	I3s                  // checker.effect
	I4                   // checker.inspect
	I5                   // checker.inspect
	I6                   // checker.stepped, begins, ends, notice, sends, inspect
	I7                   // checker.applied, sends
	I8                   // checker.granted
	I9                   // checker.inspect
	I10                  // checker.notice
	I11                  // checker.begins
	I12                  // checker.applied
	I13                  // checker.sends
	I14                  // checker.sends
	I15                  // checker.stepped
	I16                  // checker.final, finishes
	StalePassed
	TwinPassed

	invariants
)

var invariantTexts = [invariants][2]string{
	{"I1", "two processes never believe in one election at once"},
	{"I1a", "a belief never outlives the lease at the store"},
	{"I2", "tokens strictly increase, and belong to one attempt"},
	{"I3", "a guard accepts no token below one that it has accepted, and no equal one of another attempt"},
	{"I3s", "after a seal a guard accepts nothing below it"},
	{"I4", "with a store in reach and a candidate waiting there is a new leader in time"},
	{"I5", "after a release somebody who waits is granted the election at once"},
	{"I6", "terms begin and end in turn, work is told to end in time, and a lease is released only after its work has returned"},
	{"I7", "nothing is renewed after its release, after a later grant, or after stepping down"},
	{"I8", "one attempt gets one token"},
	{"I9", "whoever wants to lead goes on looking"},
	{"I10", "leaders are seen in the order of tokens, and only such as there were"},
	{"I11", "a term begins only with a grant of the store, before its deadline"},
	{"I12", "only its owner changes a live lease"},
	{"I13", "a request names the election that it is about"},
	{"I14", "no candidate floods the store"},
	{"I15", "an answer that leaves things open neither extends nor ends a belief; a definite one ends it at once"},
	{"I16", "in the end there is a leader"},
	{"stale write", "a resource without a guard takes a stale write"},
	{"twin write", "a guard that doesn't compare attempts takes two writers under one token"},
}

// String returns the invariant's number.
func (i Invariant) String() string { return invariantTexts[i][0] }

// Text says it in words.
func (i Invariant) Text() string { return invariantTexts[i][1] }
