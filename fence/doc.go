// Package fence makes a stale leader harmless.
//
// A lease alone can't do that: a leader may be paused between its last check and its write, and wake after
// another one was elected. So each term carries a [Token] whose value only grows, writers show it, and the
// protected resource refuses a write whose token is lower than the highest one that it has seen. The check and
// the write are one atomic step at the resource: that is a guard.
//
//	mark, err := fence.Admit(mark, token, time.Now()) // the rule that every guard applies
//
// A guard learns of a new term when the term *seals* it ([Sealer]), which the elector does before the leader's
// function runs. Without the seal a write of the old leader would pass between the new leader's election and its
// first write.
//
// # Guarantees
//
// F1: after Seal(t) has returned, no write under a lower token is applied; and none under an equal token of another
// attempt, so that two terms which were given one token by a store that lost data exclude each other.
//
// # What it does not do
//
// A guard protects only the resource in which it sits. Two elections which write one resource don't fence each
// other: marks are kept per election.
//
// This package imports the standard library only. Guards that live in a store come with the store.
package fence
