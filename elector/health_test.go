package elector

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/internal/clock"
)

// PE44, PE45: an elector that hangs says so, a content follower doesn't, and neither does one at rest.
func TestHealth(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		hold := make(chan struct{})
		leader := start(t, config(server.Client(), "a"))
		<-leader.terms
		source := clock.New()
		inner := source.Boot
		var stuck atomic.Bool
		source.Boot = func() (int64, bool) {
			if stuck.Load() {
				<-hold // the loop reads the clocks before each step
			}
			return inner()
		}
		e, err := newElector(config(server.Client(), "b"), source)
		must(t, err)
		if h := e.Health(); h.State != "following" || h.Late != 0 {
			t.Errorf("at rest: %+v", h)
		}
		follower := startAs(t, e, nil)
		for range 20 {
			pass(ttl / 2)
			synctest.Wait()
			if a, b := leader.Health(), follower.Health(); a.State != "leading" || b.State != "campaigning" || a.Late != 0 || b.Late != 0 {
				t.Errorf("leader %+v, follower %+v", a, b)
			}
		}
		stuck.Store(true)
		pass(4 * ttl)
		if h := follower.Health(); h.Late < 2*ttl {
			t.Errorf("a loop that hangs is %+v", h)
		}
		stuck.Store(false)
		close(hold)
		pass(time.Second)
		if h := follower.Health(); h.Late != 0 {
			t.Errorf("afterwards it is %+v", h)
		}
		_, _ = follower.end(), leader.end()
		if h := leader.Health(); h.State != "following" || h.Late != 0 {
			t.Errorf("at the end: %+v", h)
		}
	})
}
