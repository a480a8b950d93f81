package backend

import "time"

// Limits tells what a store can keep and what its guarantees rest on. It is declared by the store's production code, required by the
// elector and checked by the conformance suite, so the three can't drift apart.
type Limits struct {
	// Store is the name of the kind: "redis", "sqlite".
	Store string
	// MinTTL and MaxTTL bound the TTLs that the store accepts.
	MinTTL, MaxTTL time.Duration
	// Granularity is the unit to which the store rounds a TTL up.
	Granularity time.Duration
	// Expiry says who decides that a lease has ended. Native (or empty): the store, by its clock. Observed and Beat: a challenger which has itself seen no
	// sign of life for the holder's TTL, so that one which looks for the first time waits for up to one TTL more.
	Expiry Mode
	// SilentRenewals says that a renewal leaves the record alone: Record.Renewals stays zero.
	SilentRenewals bool
	// Batch is how many leases one request renews at most; zero or one: each takes a request of its own. See BatchRenewer.
	Batch int
	// RenewRequests is how many requests to the server one renewal, or one batch, takes; zero stands for one.
	RenewRequests int
	// FollowerRequests is how many requests to the server an idle follower makes per TTL at most, the looks of its elector included; zero stands for 1.25.
	FollowerRequests float64
	// ExpiryLag is how long after its TTL an expired lease may still stand in the way.
	ExpiryLag time.Duration
	// WallClock says that leases end by a wall clock of the store, which somebody may set. A ClockStep says so too.
	WallClock bool
	// ClockStep is by how much the store's wall clock may step forward within a TTL: σ of the lease inequality. Zero where
	// expiry doesn't rest on a wall clock, and where the operator trusts the clock not to step.
	ClockStep time.Duration
	// WakeUp is how followers learn of a release.
	WakeUp WakeUp
	// Durability is what an acknowledged write survives.
	Durability Durability
	// Tokens is what the growth of tokens rests on when acknowledged data is lost.
	Tokens TokenSource
	// Assumptions lists, one sentence each, what the guarantees rest on beyond the contract. Reports print them.
	Assumptions []string
}

// WakeUp is how a watch learns of changes.
type WakeUp string

// Kinds of wake-up.
const (
	Pushed WakeUp = "pushed" // the server tells
	Polled WakeUp = "polled" // the store looks at a local file; servers are not polled
	Timed  WakeUp = "timed"  // no wake-up: followers wait for the lease's end or their own look
)

// Durability is what an acknowledged write survives.
type Durability string

// Classes of durability, weakest first.
const (
	Volatile     Durability = "volatile"     // lost with the server's process
	Asynchronous Durability = "asynchronous" // on disk or on replicas some time after the acknowledgement
	Local        Durability = "local"        // on one disk before the acknowledgement
	Quorum       Durability = "quorum"       // on a majority of servers before the acknowledgement
)

// TokenSource is what makes tokens grow.
type TokenSource string

// Sources of tokens.
const (
	Counter      TokenSource = "counter"       // a counter kept with the record
	CounterClock TokenSource = "counter+clock" // the counter, but never below the server's clock in microseconds: grows over data loss if that clock doesn't step back
)
