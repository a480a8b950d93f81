// Package conformance checks a lease store against the contract in package backend.
//
//	func TestConformance(t *testing.T) {
//		server := startServer(t)
//		conformance.Run(t, conformance.Suite{
//			Open: func(t conformance.T) backend.LeaseStore { return mystore.New(server.Addr()) },
//		})
//	}
//
// Each sentence of the contract that says "must" is a [Rule] here, with the same words, and each rule has cases. [Run] plays them as subtests;
// [Check] plays them without package testing and returns the [Report].
//
// # What a passing run means
//
// No counterexample was found. It is not a proof: the cases look where stores have been seen to break, and a store can break elsewhere.
// Nothing is said about what a case could not reach, and each result says so in a word of its own: see [Outcome].
//
// Rules that are [Optional] are those of the optional interfaces of package backend. Their cases come out as not claimed for a store that doesn't implement the interface itself.
//
// # Time
//
// Order and exclusion are asserted strictly. Durations are not: a lease must not end early, by the clock of the one who asked for it, and every
// "at once" has a ceiling of seconds, so that a busy machine makes no failure. A case in which the machine was too slow to tell is played again with a longer
// TTL, and is undecided in the end.
//
// Every call of every client is recorded, and after each case the whole history is checked for exclusion, the order of tokens and
// revived leases, whatever the case was about. Only what is certain from the times of calls and replies counts as a violation.
//
// # Elections
//
// The rules E1 to E9 of package elector are checked on the same store, with candidates whose messages are lost, held back, late or refused. While one leads, its function looks all the time at what its
// elector says; the instants of these looks, of the terms and of all calls to the store stand in one order. What that order can't allow is a violation, whatever the case was about: two who believe at one
// instant, a context that outlives its lease, a release before the work has returned, an observer that goes backwards. What costs time alone, such as a leader that steps down although
// the store was away for a moment, is undecided when the machine or the store was slow.
//
// # What it does not check
//
// Leaked goroutines and connections: use goleak in the TestMain of the store's own tests.
package conformance
