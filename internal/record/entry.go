package record

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Entry is what a store keeps of one election. The zero value is an election that never had a holder.
type Entry struct {
	Counter     int64 // never falls
	Holder      backend.Candidate
	Token       int64
	Attempt     backend.Attempt // stays after the lease's end, so that it is not granted again
	TTL         time.Duration
	Expires     int64 // in nanoseconds of Clock.Now, as all times here
	Granted     int64
	Renewals    int64
	Released    bool
	ReservedFor string // the candidate that may acquire until Reserved; empty: nobody
	Reserved    int64
	MovedTo     string
	Version     int
	Mode        backend.Mode
}

// Clock is the store's time at the moment of a call.
type Clock struct {
	// Now is in nanoseconds, greater than zero, on the clock by which leases expire.
	Now int64
	// Wall is the store's wall clock. It only judges whether a floor is absurd.
	Wall time.Time
	// Bound is the store's lower bound of new tokens, above all counters of forgotten elections; zero if it has none.
	Bound int64
}

// Live reports whether somebody holds the election.
func (e *Entry) Live(c Clock) bool { return e.Holder.ID != "" && e.Expires > c.Now }

func (e *Entry) reserved(c Clock) bool { return e.Reserved > c.Now }

// Record is what Get shows.
func (e *Entry) Record(election string, c Clock) backend.Record {
	r := backend.Record{
		Election: election, Token: e.Token, Counter: e.Counter, Attempt: e.Attempt, TTL: e.TTL,
		MovedTo: e.MovedTo, Version: e.Version, Mode: e.Mode,
	}
	if r.Mode == "" && e.Version != 0 { // an election without a grant has the zero record
		r.Mode = backend.Native
	}
	if e.Live(c) {
		r.Holder, r.Renewals = e.Holder, e.Renewals
		r.Remaining, r.Age = time.Duration(e.Expires-c.Now), time.Duration(c.Now-e.Granted)
	} else if e.reserved(c) {
		r.Reserved = backend.Reservation{To: e.ReservedFor, For: time.Duration(e.Reserved - c.Now)}
	}
	return r
}

func (e *Entry) lease(election string) backend.Lease {
	return backend.Lease{Election: election, Holder: e.Holder.ID, Token: e.Token, Attempt: e.Attempt, TTL: e.TTL}
}
