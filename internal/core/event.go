package core

import (
	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// Input is one step's worth of the outside world.
type Input struct {
	Now  clock.Reading
	Rand [2]uint64
	Event
}

// EventKind says what happened.
type EventKind uint8

// What can happen.
const (
	Tick         EventKind = iota // time has passed
	Want                          // the caller wants to lead; Mode says how
	Unwant                        // the caller has ended the campaign or the run; Err is why
	Resign                        // the caller steps down from Term
	WorkReturned                  // the work of Term has returned; Err is its result
	Overdue                       // somebody was told, by a look at the clocks, that the time of Term's work is over
	Close                         // no more terms, ever
	Beat                          // the loop renews other leases now: one that is due soon may go along
	Permit                        // there may be a permit now
	GotRecord                     // reply to Get
	Acquired                      // reply to Acquire
	Renewed                       // reply to Renew
	Released                      // reply to Release
	Sealed                        // reply to Seal of guard Guard
	WatchOpened                   // reply to OpenWatch; Err if it failed
	Woken                         // the watch reports a change
	WatchClosed                   // the watch ended by itself
)

// Mode is how the caller wants to lead.
type Mode uint8

// Modes.
const (
	None     Mode = iota
	Run           // campaign, lead, and again after a loss, until told otherwise
	Campaign      // one term; the caller works beside it
	Try           // one term if it is free now
	Serve         // as Run, but work that fails is tried again, by whoever is elected then
)

// Event is what happened. Fields not named for a kind are zero.
type Event struct {
	Kind    EventKind
	Mode    Mode           // Want
	Caller  uint64         // Want, Unwant: who
	Term    uint64         // Resign, WorkReturned, Overdue
	Request uint64         // replies
	Sent    clock.Reading  // replies: read before the request was sent
	Lease   backend.Lease  // Acquired, Renewed
	Record  backend.Record // GotRecord
	Guard   int            // Sealed
	// Handover, of Resign, is what becomes of the election. Where it is kept for nobody, its time counts from this event.
	Handover backend.Handover
	Err      error
}

// ActionKind says what to do.
type ActionKind uint8

// What the shell can be told to do.
const (
	DoGet        ActionKind = iota // read the record, reply with GotRecord
	DoAcquire                      // send Claim, reply with Acquired
	DoRenew                        // renew Lease, reply with Renewed
	DoRelease                      // release Lease, reply with Released
	DoSeal                         // seal guard Guard with Lease's token, reply with Sealed
	DoOpenWatch                    // reply with WatchOpened, then Woken, then WatchClosed
	DoCloseWatch                   // no reply
	DoBelieve                      // publish Belief for the callers who ask
	DoBegin                        // Term has begun under Lease: give it to Caller
	DoEndWork                      // cancel Term's context with cause Err
	DoOverrun                      // Term's work outlives its lease
	DoFinish                       // Caller gets no further term; Err is why
	DoNotify                       // tell Notice
)

// Action is something for the shell to do. The shell does it and decides nothing.
type Action struct {
	Kind    ActionKind
	Request uint64
	Timeout int64 // ns; of a request
	Claim   backend.Claim
	Lease   backend.Lease
	// Handover, of DoRelease, is what becomes of the election.
	Handover backend.Handover
	Guard    int
	Term     uint64
	Caller   uint64 // DoBegin, DoFinish: who waits for it
	Belief   Belief
	Err      error
	Notice   Notice
}

// Belief is what callers are told until it is replaced: the term's lease may be believed in while less than Hard has elapsed since Anchor, the look at the clocks from
// which it was published. The zero Belief is none.
type Belief struct {
	Term       uint64
	Leading    bool // new work may be begun: not while draining
	Anchor     clock.Reading
	Soft, Hard int64 // ns
}

// NoticeKind names a transition.
type NoticeKind string

// Notices, for logs and metrics.
const (
	NoteCampaigning NoticeKind = "campaigning"
	NoteLeader      NoticeKind = "leader"      // another leader, or nobody, was seen
	NoteSealing     NoticeKind = "sealing"     // granted; guards are being told
	NoteStarted     NoticeKind = "started"     // the term has begun
	NoteRenewed     NoticeKind = "renewed"     // the deadline has moved
	NoteSuspect     NoticeKind = "suspect"     // a renewal has failed; the deadline stands
	NoteDraining    NoticeKind = "draining"    // stepping down, waiting for the work
	NoteLost        NoticeKind = "lost"        // stepped down without wanting to; Err is why
	NoteOverrun     NoticeKind = "overrun"     // the work outlives its lease
	NoteStopped     NoticeKind = "stopped"     // the term's work has returned, or its belief has ended without any
	NoteQuarantined NoticeKind = "quarantined" // stays away for a while: cooldown after a loss, or guards could not be sealed
	NoteFailed      NoticeKind = "failed"      // a request failed; Err is why
	NoteClockJump   NoticeKind = "clock jump"  // wall and monotonic clock disagree: suspend or a clock that was set
)

// Notice tells a transition.
type Notice struct {
	Kind   NoticeKind
	Token  int64 // the term's, zero when there is none
	Holder backend.Candidate
	Err    error
}
