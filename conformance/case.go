package conformance

import "slices"

// Case is one situation in which a store's behaviour is checked.
type Case struct {
	// Name is a sentence about the behaviour.
	Name string
	// Rule is what the case is about. Its history is checked for S1 to S4 as well.
	Rule Rule
	// Covers lists the incidents and counterexamples that the case plays.
	Covers []string
	// Waits says that the case mostly waits for leases to end; such cases run in parallel.
	Waits bool

	// Alone says that the case disturbs the server, so that no other may run beside it.
	Alone bool

	run func(*trial)
}

// Cases lists all cases, in the order of their rules.
func Cases() []Case {
	return slices.Concat(
		exclusionCases, tokenCases, acquireCases, seenCases, renewCases, releaseCases, reservationCases, expiryCases, watchCases,
		getCases, errorCases, contextCases, nameCases, ttlCases, batchCases,
		restartCases, networkCases,
		notifyCases, rosterCases, listerCases, forgetCases,
		believerCases, noticeCases, releaseLastCases, successionCases, enduranceCases, observerCases, quietCases,
	)
}

func casesOf(r Rule) []Case {
	var list []Case
	for _, c := range Cases() {
		if c.Rule == r {
			list = append(list, c)
		}
	}
	return list
}
