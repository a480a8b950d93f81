package explore

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// small is a world in which bugs are near: nothing is lost on purpose, and time makes few steps within a lease.
var small = World{Candidates: 2, Messages: 2, TTL: 3, Losses: 1, Rates: []int{0}, Most: 150_000}

func with(change func(*World)) World {
	w := small
	change(&w)
	return w
}

func onEach(kind core.ActionKind, f func(*core.Action)) func([]core.Action) []core.Action {
	return func(actions []core.Action) []core.Action {
		for i := range actions {
			if actions[i].Kind == kind {
				f(&actions[i])
			}
		}
		return actions
	}
}

// Bugs that are planted, what they break, and where.
var bugs = []struct {
	breaks string
	world  World
	bug    Bug
}{
	{"believes longer than the store", small, Bug{
		Name: "deadlines are counted from the reply",
		In:   func(in *core.Input, _ *core.Action) { in.Sent = in.Now },
	}},
	{"believes longer than the store", small, Bug{
		Name: "a renewal of which nothing is known is taken for done",
		In: func(in *core.Input, asked *core.Action) {
			if in.Kind == core.Renewed && backend.ClassOf(in.Err) == backend.Unknown {
				in.Err, in.Lease = nil, asked.Lease
			}
		},
	}},
	{"believes longer than the store", with(func(w *World) { w.Rates = []int{-100, 0, 100} }), Bug{
		Name:   "clocks are trusted to agree",
		Config: func(cfg *core.Config) { cfg.Margins.DriftPPM = 0 },
	}},
	{"was not told that its time is over", small, Bug{
		Name: "its work gets no order to end",
		Out:  onEach(core.DoEndWork, func(a *core.Action) { a.Kind = core.DoNotify }),
	}},
	{"before its work has returned", small, Bug{
		Name: "the lease is released while the work ends",
		Out: func(actions []core.Action) []core.Action {
			for _, a := range actions {
				if a.Kind == core.DoRenew {
					actions = append(actions, core.Action{Kind: core.DoRelease, Lease: a.Lease, Request: 1 << 40})
				}
			}
			return actions
		},
	}},
	{"attempt that has had its term", small, Bug{
		Name: "random numbers repeat",
		In:   func(in *core.Input, _ *core.Action) { in.Rand[1] = 7 },
	}},
	{"believe at once", with(func(w *World) { w.Unheard = true }), Bug{
		Name: "it believes for twice the TTL",
		Out:  onEach(core.DoBelieve, func(a *core.Action) { a.Belief.Hard *= 2 }),
	}},
	{"believes longer than the store", small, Bug{
		Name:   "no margin is kept",
		Config: func(cfg *core.Config) { cfg.Margins.Safety = -quantum },
	}},
	{"leads without a belief", small, Bug{
		Name: "an unknown outcome ends the belief",
		Out: func(actions []core.Action) []core.Action {
			for _, a := range actions {
				if a.Kind == core.DoNotify && a.Notice.Kind == core.NoteSuspect {
					actions = append(actions, core.Action{Kind: core.DoBelieve, Belief: core.Belief{Term: 1}})
				}
			}
			return actions
		},
	}},
}

func TestBugsAreFound(t *testing.T) {
	for _, b := range bugs {
		t.Run(b.bug.Name, func(t *testing.T) {
			w := b.world
			w.Bug = b.bug
			r := Search(w)
			if !strings.Contains(r.Broken, b.breaks) {
				t.Fatalf("%d states, depth %d: %q", r.States, r.Depth, r.Broken)
			}
			t.Logf("after %d states: %s\n%s", r.States, r.Broken, strings.Join(r.Trace, "\n"))
		})
	}
}
