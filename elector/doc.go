// Package elector elects one leader among many processes and keeps it elected.
//
//	e, err := elector.New(elector.Config{Store: store, Election: "settlement"})
//	…
//	err = e.Run(ctx, func(ctx context.Context, term *elector.Term) error {
//		// This process leads. ctx ends when that does.
//		return settle(ctx, term.Token())
//	})
//
// The same elector works on every store of package backend.
//
// # Terms
//
// A candidate *campaigns* until it is elected. Its leadership is a [Term], with a fencing token that is greater than every earlier one. The term ends when the leader resigns, when the
// store says that the lease is lost, or when no renewal was confirmed in time. Its context ends then, and context.Cause tells which it was.
//
// # Guarantees
//
//   - E1: at no instant is Leading true in two candidates, under the assumptions below.
//   - E2: tokens of terms strictly increase.
//   - E3: a term's context ends before the lease can go to another, at least StepDownMargin earlier when renewals fail.
//   - E4: on a voluntary step-down the lease is held and renewed until the work has returned, then released. Work that doesn't return within DrainTimeout keeps its lease until that
//     runs out; nothing is released under it.
//   - E5: after a crash a follower leads within TTL, plus the store's lag and a few round trips; after a resignation within a few round trips.
//   - E6: an outage of the store shorter than [Timing.OutageSurvived] costs no leadership. After a longer one, candidates go on trying for ever.
//   - E7: after a pause of any length Leading, Term.Valid and the context's Err are right from the first call: they compare clocks.
//   - E8: [Elector.Observe] reports leaders in the order of their tokens.
//   - E9: an idle follower asks the store about once per TTL, a leader once per RenewInterval.
//
// # Time
//
// Belief in a lease ends, counted from the start of the request which moved its expiry, after
//
//	(TTL − σ) × (1 − ρ)/(1 + ρ) − SafetyMargin
//
// on a clock that counts suspend. ρ is ClockDrift, σ is the store's Limits.ClockStep. Work is cancelled StepDownMargin earlier.
//
// # What it can't do
//
// A store that loses its data forgets who leads. A candidate that has seen the leader then waits for one TTL, in which the leader finds out; one that has not can't know, and a claim that was under way all the time can be
// granted by a store that no longer knows why to refuse it.
//
// Where clock rates differ by more than ρ, the store's wall clock leaps by more than σ, somebody removes the record, the store loses an acknowledged write, or a virtual machine is frozen together with all its clocks, two may
// believe for a while. And a paused leader may act after its last check. What holds in all these cases is the fencing token: show it to what you write to, see package fence, and list those guards in Config.Guards.
//
// # Failures
//
//	the leader's process dies          a follower leads after at most about TTL
//	the leader resigns, gets SIGTERM   work is cancelled, awaited, the lease released; a follower leads at once
//	the store is away for a moment     nothing
//	the store is away for long         the leader's work is cancelled before its lease can go to another; all go on trying
//	work doesn't stop in time          OnOverrun; no campaign from here until it has returned
//	the leader is paused               it doesn't lead from its first instruction on
package elector
