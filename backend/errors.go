package backend

import (
	"context"
	"errors"
	"fmt"
)

// The definite answers of a store: after one of these, nothing was changed by the call. Use errors.Is.
var (
	// ErrHeld says that another attempt holds the election, or that it is reserved for another candidate. The error is a [*HeldError] with the record. Wait
	// for a wake-up, or for the record's remaining time.
	ErrHeld = errors.New("held")
	// ErrNotHeld says that the lease is not (any more) held by this attempt: it has expired, was released, or belongs to another. From Acquire: this attempt had its
	// term; draw a new one.
	ErrNotHeld = errors.New("not held")
	// ErrOutdated says that Claim.Seen is not the counter: the election has had another term since it was read. Read again.
	ErrOutdated = errors.New("outdated: the election has had another term since it was read")
	// ErrMoved says that the election was moved to another store for good.
	ErrMoved = errors.New("moved")
	// ErrVersion says that the record was written by a newer release in a format that this one doesn't know. Upgrade.
	ErrVersion = errors.New("record format is newer than this release knows")
	// ErrInvalid says that an argument, a URL or a setting is unusable; the text says which and why.
	ErrInvalid = errors.New("invalid")
	// ErrClosed says that the store has been closed.
	ErrClosed = errors.New("store is closed")
)

// ErrDenied marks an error as one of missing or wrong credentials. Like every error that is not in the list above, it leaves open whether the call was applied.
var ErrDenied = errors.New("denied: check user, password and permissions")

// HeldError tells who stands in the way. errors.Is(err, ErrHeld) holds.
type HeldError struct {
	Record Record
}

// Error implements error.
func (e *HeldError) Error() string { return e.Record.String() }

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// OpError is how every error of a wrapped store, and of a driver in Open, is reported: what was tried, where, for which election, and why it failed.
type OpError struct {
	Op       string // open, acquire, renew, release, get, watch, close, raise, enlist, delist, candidates, list, forget
	Store    string // Limits.Store; for open the URL's scheme
	Election string // empty for open and close
	Err      error
}

// Error implements error.
func (e *OpError) Error() string {
	if e.Election == "" {
		return fmt.Sprintf("%s on %s: %v", e.Op, e.Store, e.Err)
	}
	return fmt.Sprintf("%s %q on %s: %v", e.Op, e.Election, e.Store, e.Err)
}

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

// Class is what an error means for a lease.
type Class uint8

// Classes of errors. The zero value is Unknown, the only one that leaves open whether the call was applied; Denied is Unknown with a known reason.
const (
	Unknown Class = iota
	Denied
	OK
	Held
	NotHeld
	Outdated
	Moved
	Invalid
	Closed
)

var classNames = [...]string{"unknown", "denied", "ok", "held", "not held", "outdated", "moved", "invalid", "closed"}

// String returns the class's name as used in logs and metrics.
func (c Class) String() string { return classNames[c] }

// ClassOf tells what err means. A context that ended says nothing about the store: Unknown.
func ClassOf(err error) Class {
	switch {
	case err == nil:
		return OK
	case errors.Is(err, ErrHeld):
		return Held
	case errors.Is(err, ErrNotHeld):
		return NotHeld
	case errors.Is(err, ErrOutdated):
		return Outdated
	case errors.Is(err, ErrMoved):
		return Moved
	case errors.Is(err, ErrInvalid), errors.Is(err, ErrVersion):
		return Invalid
	case errors.Is(err, ErrClosed):
		return Closed
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Unknown
	case errors.Is(err, ErrDenied):
		return Denied
	}
	return Unknown
}
