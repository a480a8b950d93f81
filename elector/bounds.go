package elector

import (
	"math/rand/v2"

	"github.com/tenure-go/tenure/internal/core"
)

// bounds are how many elections the loop's machines may lead, and should.
type bounds struct{ most, target int }

// bound says how many elections may be led, and should be.
func (l *loop) bound(most, target int) { l.post(posted{bounds: &bounds{most, target}}) }

// permit gives machines that were kept waiting their turn, when one of the others has made room; in another order each time.
func (l *loop) permit() {
	if !l.shared.Freed() {
		return
	}
	for _, i := range rand.Perm(len(l.busy)) {
		if i < len(l.busy) && l.busy[i].machine.KeptWaiting() {
			l.step(l.busy[i], core.Event{Kind: core.Permit})
		}
	}
}
