package backend

import (
	"time"

	"github.com/tenure-go/tenure/fence"
)

// Lease is a grant of an election to a candidate. Its identity is (Election, Token, Attempt).
type Lease struct {
	Election string
	Holder   string // the candidate's ID
	Token    int64
	Attempt  Attempt
	// TTL is what was granted: at least what was asked, see Limits.Granularity.
	TTL time.Duration
	// AnchorAge is how long before the call the request was sent that moved the record's expiry. Zero, as in most stores: it was sent within the call.
	AnchorAge time.Duration
	// Opaque belongs to the store.
	Opaque any
}

// Fence returns the lease's fencing token.
func (l Lease) Fence() fence.Token { return fence.Token{Value: l.Token, Attempt: l.Attempt} }

// Handover says what becomes of an election on release. The zero value frees it for everybody.
//
// With For above zero the election stays reserved for that time: only the candidate To may acquire it, and with an empty To nobody. Nobody becomes leader without
// an Acquire of its own. For is at most the lease's TTL; a store cuts it to that. Only a live lease can reserve.
type Handover struct {
	To  string
	For time.Duration
}
