package core

import "errors"

// Why a term has ended. The elector exports them.
var (
	ErrResigned   = errors.New("elector: resigned")
	ErrLost       = errors.New("elector: lost: the store says that the lease is not held any more")
	ErrDeadline   = errors.New("elector: renewal deadline: no renewal was confirmed in time")
	ErrDenied     = errors.New("elector: store denied: no renewal was allowed in time")
	ErrClosed     = errors.New("elector: closed")
	ErrBusy       = errors.New("elector: a campaign or term of this elector is under way already")
	ErrRecordLost = errors.New("elector: the store has lost the election's record: staying away for a TTL, for its holder may not know yet")
	ErrTokenOrder = errors.New("elector: the store granted a token that is not above those seen before")
	ErrUnsealed   = errors.New("elector: the declared guards could not be sealed in time")
)
