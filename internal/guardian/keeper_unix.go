//go:build linux || darwin

package guardian

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// stragglerGrace is what remains of a command gets between TERM and KILL, when
// the command itself has ended.
const stragglerGrace = 2 * time.Second

// keeper is the guardian's loop. It runs on the thread that forked the command.
type keeper struct {
	family family
	plan   plan
	boot   func() BootTime
	orders <-chan order     // closed when the wrapper is gone; then nil
	ended  <-chan os.Signal // a child has ended
	reason Reason           // why the leader ended; empty while it has not
}

// run returns when the command and all its descendants have ended.
func (k *keeper) run() report {
	timer := time.NewTimer(shortest)
	defer timer.Stop()
	for !k.step() {
		timer.Reset(k.nap())
		select {
		case o, ok := <-k.orders:
			k.obey(o, ok)
		case <-k.ended:
		case <-timer.C:
		}
	}
	code, sig := exitCode(k.family.status)
	return report{verb: "ended", code: code, signal: sig, reason: k.reason}
}

// step looks at the clock before anything else, so that after a freeze the
// deadline counts and not the order that waits in the pipe.
func (k *keeper) step() (over bool) {
	now := k.boot()
	act := k.plan.due(now)
	if k.reason == "" && k.family.leaderEnded() {
		if k.leaderEnded(now); k.family.gone() {
			return true // the usual case; no need to look for stragglers
		}
		k.family.termStrays()
		act = max(act, k.plan.due(now))
	}
	switch act {
	case stepTerm:
		k.family.signal(unix.SIGTERM)
		k.family.signal(unix.SIGCONT) // a stopped process would not see the TERM
	case stepKill:
		k.family.killAll()
		if k.reason == "" {
			k.reason = k.plan.cause
		}
		return true
	}
	if k.reason != "" {
		return k.family.gone()
	}
	k.family.reapOrphans()
	return false
}

// leaderEnded notes why the command ended. What it left behind gets a short
// grace.
func (k *keeper) leaderEnded(now BootTime) {
	k.reason = k.plan.cause
	if k.reason == "" {
		k.reason = Exited
	}
	k.plan.end(now, Exited, stragglerGrace)
}

func (k *keeper) obey(o order, ok bool) {
	now := k.boot()
	switch {
	case !ok:
		k.orders = nil
		k.plan.end(now, WrapperGone, never.Sub(now)) // the hard deadline is the grace
	case o.verb == "deadline":
		k.plan.extend(now, o.soft, o.hard)
	case o.verb == "stop":
		k.plan.end(now, Stopped, o.grace)
	case o.verb == "signal":
		k.family.signal(o.signal)
	}
}

// nap is short while stragglers end, since only some of them are our children
// and tell us.
func (k *keeper) nap() time.Duration {
	d := k.plan.nap(k.boot())
	if k.reason != "" {
		d = min(d, 10*time.Millisecond)
	}
	return d
}
