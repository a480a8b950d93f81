package postgres

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

// observe applies to a row what only this store can time, by what it has seen of the row itself on its own monotonic clock. claim is who asks; the zero claim asks for
// nobody. It returns the sign of life that was seen unchanged for long enough, or nothing.
//
// A lease in observed mode ends when its sign of life was silent for its TTL. And a row that was written under another epoch of the server, held, expired or free, may lack the
// last writes before the server crashed or a replica took its place: somebody may still believe in a lease that the row doesn't show. It is out of reach until it was seen
// unchanged for the longer of its own TTL and the challenger's.
func (s *Store) observe(election string, r *row, claim backend.Claim) (silent string) {
	e := &r.entry
	held := e.Holder.ID != ""
	observed := held && e.Mode != backend.Native
	if !observed && !r.stale {
		s.seen.Forget(election)
		return ""
	}
	wait := e.TTL
	if r.stale {
		wait = max(wait, claim.TTL)
	}
	left := wait - s.seen.Saw(election, r.epoch+" "+r.sign)
	if held && e.Holder.ID == claim.Candidate.ID && e.Attempt == claim.Attempt {
		if observed {
			e.Expires = r.clock.Now + int64(max(left, time.Millisecond)) // the holder's own until somebody takes it
		}
		if left > 0 {
			return ""
		}
		return r.sign
	}
	until := r.clock.Now + int64(max(left, 0))
	switch {
	case observed:
		e.Expires = until
	case held:
		e.Expires = max(e.Expires, until)
	case left > 0:
		e.ReservedFor, e.Reserved = "", max(e.Reserved, until)
	}
	if left > 0 {
		return ""
	}
	return r.sign
}
