package conformance

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

// restart leaves the records alone, unless it has a bug.
func (b *breakable) restart() { b.disturb("restart") }

func (b *breakable) failover() { b.disturb("fail-over") }

func (b *breakable) disturb(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.elections {
		switch b.bug {
		case "a " + what + " loses the counters":
			e.counter = 0
		case "a " + what + " frees what is held":
			e.holder, e.expires = backend.Candidate{}, time.Time{}
		}
	}
	if b.has("watches are deaf after a " + what) {
		b.watches = make(map[*watching]bool)
	}
}
