package elector

import (
	"errors"

	"github.com/tenure-go/tenure/internal/core"
)

// Why a term ended: context.Cause of its context wraps one of these. Use errors.Is.
var (
	// ErrResigned: the leader stepped down on purpose, by Term.Resign, by its function's return, or because the context of Run ended (the cause wraps that
	// context's cause too).
	ErrResigned = core.ErrResigned
	// ErrLost: the store says that the lease is not held any more; somebody removed it, or it ran out while nobody noticed.
	ErrLost = core.ErrLost
	// ErrDeadline: no renewal was confirmed before the deadline. The store was away, too slow, or this process was paused.
	ErrDeadline = core.ErrDeadline
	// ErrDenied: as ErrDeadline, and the store said that it was for missing permissions.
	ErrDenied = core.ErrDenied
	// ErrClosed: the elector or its store was closed. (A campaign at a closed store ends with backend.ErrClosed.)
	ErrClosed = core.ErrClosed
)

// Errors of campaigns. Use errors.Is; backend.ErrHeld (of TryCampaign), ErrMoved, ErrVersion, ErrInvalid and ErrClosed occur too.
var (
	// ErrBusy: a campaign or term of this elector is under way. One Run or Campaign at a time; end the earlier one first.
	ErrBusy = core.ErrBusy
	// ErrUnsealed: the declared guards could not be told of the new term, so it was given up before any work. TryCampaign returns this;
	// Run and Campaign try again.
	ErrUnsealed = core.ErrUnsealed
	// ErrRecordLost: the store has lost the record of an election that this elector has seen. Its last holder may not know yet, so a campaign stays away for
	// one TTL; TryCampaign returns this.
	ErrRecordLost = core.ErrRecordLost
	// ErrIneligible: Preference.CanLead says no, or this candidate stands aside after it was asked to step down. TryCampaign returns this; Run and Campaign wait.
	ErrIneligible = core.ErrIneligible
	// ErrTokenOrder: the store granted a token that is not above those seen before. The grant was given back; the store has lost data.
	ErrTokenOrder = core.ErrTokenOrder
)

// Errors of work that is called from elsewhere. Use errors.Is.
var (
	// ErrNotLeading: nobody leads here at the moment, so nothing was done. Of Duty.Do.
	ErrNotLeading = errors.New("not leading")
	// ErrAtMost: GateConfig.AtMost has passed; the cause of the context of a gate's work.
	ErrAtMost = errors.New("the time for it is over")
)
