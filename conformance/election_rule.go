package conformance

import "slices"

// The rules of elections, in the words of package elector. They are checked with electors on the store under test.
var (
	e1 = Rule{"E1", "one believer", "Leading must never be true in two candidates at one instant, nor Term.Valid in two terms, under the assumptions below.", Core}
	e2 = Rule{"E2", "tokens of terms", "The tokens of an election's terms must strictly increase, over hand-overs, crashes and removed records.", Core}
	e3 = Rule{"E3", "notice", "A term's context must end before the lease can go to another, at least StepDownMargin earlier when renewals fail, and " +
		"context.Cause must tell why: resigned, lost, deadline, denied or closed.", Core}
	e4 = Rule{"E4", "work, then release", "On a voluntary step-down the lease must be held and renewed until the work has returned, and then be released. If the work does not return " +
		"within DrainTimeout, renewing must stop, nothing may be released before it has returned, and OnOverrun must fire.", Core}
	e5 = Rule{"E5", "succession", "After a crash a follower must lead within TTL, plus the store's lag and a few round trips; where Limits.Expiry is Observed or Beat, within one TTL more. " +
		"After a resignation one must lead within a few round trips where Limits.WakeUp is Pushed or Polled.", Core}
	e6 = Rule{"E6", "endurance", "An outage of the store shorter than Timing.OutageSurvived must cost no leadership. In a longer one the leader must step down in time, and " +
		"candidates must go on trying for ever.", Core}
	e7 = Rule{"E7", "pause", "After a pause of any length Leading, Term.Valid and the context's Err must be right from the first call: they compare clocks.", Core}
	e8 = Rule{"E8", "observers", "Observe must report leaders in the order of their tokens, never backwards, and that nobody leads. The present leader must be known within one wake-up. " +
		"A slow consumer must delay nobody.", Core}
	e9 = Rule{"E9", "quiet", "An idle follower must ask the store at most 1.25 times per TTL, or as often as Limits.FollowerRequests says, and a leader once per RenewInterval. " +
		"While the store is away, neither may flood it.", Core}
)

// elects reports whether the case needs electors.
func (c Case) elects() bool { return slices.Contains(electionRules(), c.Rule) }

func electionRules() []Rule { return []Rule{e1, e2, e3, e4, e5, e6, e7, e8, e9} }
