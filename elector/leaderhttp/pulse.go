package leaderhttp

import (
	"sync"
	"time"

	"github.com/tenure-go/tenure/elector"
)

// Pulse listens to an elector's events for signs of life. Give its method Event to elector.Config.Events; if you have a subscriber of your own, call Event from there first. The zero value is ready; it must not be copied.
type Pulse struct {
	mu      sync.Mutex
	working bool      // a term's work goes on
	overran bool      // although its lease has ended
	sign    time.Time // the last event
	reached time.Time // the last one that shows an answer of the store
}

// Event takes note of a transition.
func (p *Pulse) Event(e elector.Event) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sign = now
	switch e.Kind {
	case elector.Started:
		p.working, p.overran, p.reached = true, false, now
	case elector.Renewed, elector.NewLeader:
		p.reached = now
	case elector.Overran:
		p.overran = true
	case elector.Stopped:
		p.working, p.overran = false, false
	default:
	}
}

// trouble tells what is wrong, if anything. While a term's work goes on, an elector with the given TTL has something to tell more often than once in two of them: that it has renewed or could not, that the term is over,
// or that its work goes on nevertheless.
func (p *Pulse) trouble(ttl time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.overran:
		return "work goes on although its lease has ended"
	case p.working && time.Since(p.sign) > 2*ttl:
		return "the elector has stopped telling of its term"
	}
	return ""
}

func (p *Pulse) lastReached() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reached
}
