// Package silence times leases by what a challenger has seen of them: a lease whose sign of life has not changed for its holder's TTL, on the challenger's own
// monotonic clock, may be taken over by compare-and-swap on the sign seen. It is immune to every step of every wall clock.
package silence

import (
	"sync"
	"time"
)

// Watch remembers since when it has seen each election unchanged. S is the sign of life: everything that a grant or a renewal changes. The zero value is ready, and
// may be used from several goroutines.
type Watch[S comparable] struct {
	mu   sync.Mutex
	seen map[string]sighting[S]
}

type sighting[S comparable] struct {
	sign  S
	since time.Time
}

// Saw notes what was read of an election and returns how long it has been seen unchanged: zero at the first look. Call it after the read has returned, so that
// the time counts from no earlier than the moment of which the read tells.
func (w *Watch[S]) Saw(election string, sign S) time.Duration {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	s, known := w.seen[election]
	if known && s.sign == sign {
		return now.Sub(s.since) // monotonic: it stands still in suspend, as a wait before a take-over must
	}
	if w.seen == nil {
		w.seen = make(map[string]sighting[S])
	}
	w.seen[election] = sighting[S]{sign, now}
	return 0
}

// Forget drops an election: it is free, or ours.
func (w *Watch[S]) Forget(election string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.seen, election)
}
