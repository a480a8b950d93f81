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
// # Many elections
//
// A [Group] takes part in thousands of elections as one candidate, for shards of data or for jobs. It renews their leases together and shares elections out among its candidates, if that is wanted.
//
// # Guarantees
//
// Each sentence is checked under its number by package conformance, on the store at hand. That package reads them here.
//
// E1 one believer. Leading must never be true in two candidates at one instant, nor Term.Valid in two terms, under the assumptions below.
//
// E2 tokens of terms. The tokens of an election's terms must strictly increase, over hand-overs, crashes and removed records.
//
// E3 notice. A term's context must end before the lease can go to another, at least StepDownMargin earlier when renewals fail, and context.Cause must tell why: resigned, lost, deadline, denied or
// closed.
//
// E4 work, then release. On a voluntary step-down the lease must be held and renewed until the work has returned, and then be released. If the work does not return within DrainTimeout, renewing must
// stop, nothing may be released before it has returned, and OnOverrun must fire.
//
// E5 succession. After a crash a follower must lead within TTL, plus the store's lag and a few round trips; where Limits.Expiry is Observed or Beat, within one TTL more. After a resignation one must
// lead within a few round trips where Limits.WakeUp is Pushed or Polled.
//
// E6 endurance. An outage of the store shorter than Timing.OutageSurvived must cost no leadership. In a longer one the leader must step down in time, and candidates must go on trying for ever.
//
// E7 pause. After a pause of any length Leading, Term.Valid and the context's Err must be right from the first call: they compare clocks.
//
// E8 observers. Observe must report leaders in the order of their tokens, never backwards, and that nobody leads. The present leader must be known within one wake-up. A slow consumer must delay
// nobody.
//
// E9 quiet. An idle follower must ask the store at most 1.25 times per TTL, or as often as Limits.FollowerRequests says, and a leader once per RenewInterval. While the store is away, neither may
// flood it.
//
// # Preference
//
// A candidate with Config.Listed or a [Preference] is listed in the store's roster, where it can keep one. A leader that finds one there with a higher score hands over gracefully, and so it does when an operator asks ('tenure
// handover'). A listed candidate costs one request per three TTLs more, a listed leader one more per TTL. None of this touches the guarantees: nobody is made leader without a claim of its own, and without a roster the election goes
// on as if nobody were preferred.
//
// # Time
//
// Belief in a lease ends, counted from the start of the request which moved its expiry, after
//
//	(TTL − σ) × (1 − ρ)/(1 + ρ) − SafetyMargin
//
// on a clock that counts suspend. ρ is ClockDrift, σ is the store's Limits.ClockStep. Work is cancelled StepDownMargin earlier. A step forward of the store's wall clock is
// tolerated up to σ + SafetyMargin, see Timing. Advise computes settings, Config.Warnings judges them.
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
