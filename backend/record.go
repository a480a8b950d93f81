package backend

import (
	"fmt"
	"time"
)

// Version is the format of records that this release writes. A store refuses to acquire an election whose record has a higher one, with ErrVersion.
const Version = 1

// Record is what a store knows of an election, as of a moment within the call that returned it.
type Record struct {
	Election string
	Holder   Candidate // empty ID: nobody holds it
	// Token is the holder's, or the last one granted; zero: there was none yet.
	Token int64
	// Counter is the highest token granted or raised so far: the next one is greater.
	Counter int64
	// Attempt is the holder's, or the last one granted.
	Attempt Attempt
	// TTL is the holder's, or the last holder's.
	TTL time.Duration
	// Remaining is what is left of the lease: zero when free.
	Remaining time.Duration
	// Age is how long the holder has held it. It is for display: a store without a clock of its own compares the wall clocks of two candidates.
	Age time.Duration
	// Renewals counts renewals of the present lease; it stays zero where Limits.SilentRenewals says so.
	Renewals int64
	// Mode says how the lease lives; challengers obey it rather than their own settings.
	Mode Mode
	// Reserved is set while a reservation runs, see Handover.
	Reserved Reservation
	// MovedTo is where the election was moved for good, empty if it was not.
	MovedTo string
	// Version is the record's format; zero when there is no record.
	Version int
}

// Held reports whether somebody holds the election.
func (r Record) Held() bool { return r.Holder.ID != "" }

// Wait is how long the election stays out of reach for candidate: what is left of the lease or of a reservation for others.
func (r Record) Wait(candidate string) time.Duration {
	wait := r.Remaining
	if r.Reserved.For > 0 && r.Reserved.To != candidate {
		wait = max(wait, r.Reserved.For)
	}
	return wait
}

// Reservation keeps a released election for one candidate, or with an empty To for nobody, for what is left in For.
type Reservation struct {
	To  string
	For time.Duration
}

// Mode says how a lease is kept alive and who decides that it has ended.
type Mode string

const (
	// Native leases expire by the store's clock. It is the zero value's meaning too.
	Native Mode = "native"
	// Observed leases end when a challenger has seen no renewal for the holder's TTL on its own monotonic clock.
	Observed Mode = "observed"
	// Beat leases live by a heartbeat record beside them and are timed like Observed ones.
	Beat Mode = "beat"
)

// String tells the record in one line, for logs and error texts.
func (r Record) String() string {
	switch {
	case r.MovedTo != "":
		return "moved to " + r.MovedTo
	case r.Held():
		return fmt.Sprintf("held by %s under token %d for another %v", r.Holder.ID, r.Token, r.Remaining.Round(time.Millisecond))
	case r.Reserved.For > 0 && r.Reserved.To == "":
		return fmt.Sprintf("kept free for another %v", r.Reserved.For.Round(time.Millisecond))
	case r.Reserved.For > 0:
		return fmt.Sprintf("reserved for %s for another %v", r.Reserved.To, r.Reserved.For.Round(time.Millisecond))
	}
	return fmt.Sprintf("free, last token %d", r.Counter)
}
