package conformance

// Level says of whom a rule is demanded.
type Level string

// Levels of rules.
const (
	Core    Level = "core"    // of every store
	Claimed Level = "claimed" // of stores whose Limits claim it
	// Optional rules are demanded of stores that implement an optional interface of package backend.
	Optional Level = "optional"
)

// Rule is one numbered sentence of the contract.
type Rule struct {
	Slug     string // "S4"
	Title    string // "renew"
	Sentence string // as in package backend
	Level    Level
}

// The rules, in the words of package backend.
var (
	s1 = Rule{"S1", "exclusive", "By the store's clock, two unexpired leases of one election must never exist.", Core}
	s2 = Rule{"S2", "token", "The token of each new grant must be greater than every earlier token of that election and than Claim.Floor, whatever lies between: " +
		"release, expiry, a restart of the store. The counter is a field of its own, outlives the lease and must never be reset or deleted.", Core}
	s3 = Rule{"S3", "idempotent acquire", "A repeat with the same Attempt, while its lease lives, must give the same token and extend the lease. " +
		"The same candidate with another attempt must get ErrHeld, unless that attempt is listed in Claim.Abandoned. " +
		"Once the election's last lease has ended, its attempt must never be granted again. If Claim.Seen is known, a new grant must be refused with ErrOutdated when the counter is not the one seen.", Core}
	s4 = Rule{"S4", "renew", "Renew must extend only a live lease with equal holder, token and attempt; for an expired, released or foreign one it must return " +
		"ErrNotHeld, also when nobody else has taken it. An expired lease is never revived. Where Limits.Expiry is Observed or Beat, a lease ends when a challenger takes it, " +
		"and until then its holder may renew or release it.", Core}
	s5 = Rule{"S5", "release", "Release must free only its own lease, and the next Acquire must then succeed at once. It must return nil when this attempt's lease is " +
		"released, also by an earlier call, and ErrNotHeld otherwise. A Lease with Token 0 stands for whatever token its attempt was granted.", Core}
	s6 = Rule{"S6", "expiry", "A lease must not end before T has passed by the store's clock, and must be grantable to another within T + Limits.ExpiryLag. " +
		"Where Limits.Expiry is Observed or Beat, to one that has looked (Acquire or Get) since the last renewal.", Core}
	s7 = Rule{"S7", "watch", "After Watch has returned, each later change of the election that a store makes (grant, release; not renewal) must be followed by at least one receive. " +
		"The channel must be closed when ctx ends or the store is closed.", Claimed}
	s8 = Rule{"S8", "get", "Get must tell holder, token, counter and remaining time as of a moment within the call. A free election has an empty holder and the last token.", Core}
	s9 = Rule{"S9", "errors", "Only ErrHeld, ErrNotHeld, ErrOutdated, ErrMoved, ErrVersion, ErrInvalid and ErrClosed mean that nothing was changed. " +
		"Every other error must be taken as unknown: the call may have been applied.", Core}
	s10 = Rule{"S10", "context", "Every call must return within 100 ms of its context's end. Close must leave no goroutine, connection or lease timer behind.", Core}
	s11 = Rule{"S11", "names", "Any UTF-8 name of 1 to MaxName bytes must be safe and isolated from every other name; others must be refused with ErrInvalid.", Core}
	s12 = Rule{"S12", "TTL", "A TTL that the store can't keep exactly must be rounded up and reported in Lease.TTL; one outside of Limits.MinTTL and " +
		"Limits.MaxTTL must be refused with ErrInvalid and an error text that tells the range.", Core}
	s13    = Rule{"S13", "batch", "Renewing many leases at once must equal renewing each: one lost lease must not harm the others.", Core}
	anchor = Rule{"Anchor", "anchor", "Acquire and Renew must report success only if a request that was sent within the call moved the record's expiry to at least " +
		"the call's start + T.", Core}
	notify = Rule{"Notify", "watches by a function", "After Notify has returned, each later change of the election must be followed by at least one call of wake(true), and each " +
		"reconnect by one. ctx bounds the call alone. The watch lives until stop is called, or until the store is closed, which must be followed by one last call, wake(false). After stop has returned there " +
		"must be no more calls. stop must be safe to call twice.", Optional}
	roster = Rule{"Roster", "who takes part", "An entry must be listed for its TTL and must be gone after TTL + RosterLag. A repeat must replace the entry and begin its time anew. Delist must take it off, and must " +
		"return nil also where there is none. Candidates must return the entries ordered by the candidates' IDs, as of a moment within the call. A list must not be mixed up with that of an election of another " +
		"name, and must neither create an election's record nor be changed by leases.", Optional}
	lister = Rule{"Lister", "elections", "Elections must return the names of elections below the store's prefix which have a record, in the order of their bytes: those greater than after, limit of them at " +
		"most.", Optional}
	forget = Rule{"Forget", "forgetting", "Forget must remove the record that was read, if the election is free, is not reserved, was not moved, and has its counter and attempt; a later Get must show no record. It " +
		"must return ErrHeld when the election is held or reserved, ErrMoved when it was moved, ErrOutdated when the record is another by now, and nil when there is none. A grant of an election whose record was " +
		"forgotten must be above every token that it ever had.", Optional}
)

// Rules lists the rules in the contract's order.
func Rules() []Rule {
	return append([]Rule{s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, anchor, notify, roster, lister, forget}, electionRules()...)
}
