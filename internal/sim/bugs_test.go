package sim

import (
	"errors"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// buggy is a machine with a bug: it changes what goes in, or what comes out.
type buggy struct {
	Machine
	in  func(*core.Input)
	out func([]core.Action) []core.Action
}

func (b buggy) Step(in core.Input) []core.Action {
	if b.in != nil {
		b.in(&in)
	}
	actions := b.Machine.Step(in)
	if b.out != nil {
		actions = b.out(actions)
	}
	return actions
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

// sleepless goes by the monotonic clock, which stands still in a suspend.
type sleepless struct{ Machine }

func (b sleepless) Step(in core.Input) []core.Action {
	now := in.Now
	for _, r := range []*clock.Reading{&in.Now, &in.Sent} {
		r.Boot, r.Wall = r.Mono, r.Mono
	}
	return onEach(core.DoBelieve, func(a *core.Action) { a.Belief.Anchor = now })(b.Machine.Step(in))
}

// Bugs that can be planted from outside are found within a few hundred seeds.
var bugs = []struct {
	name string
	in   func(*core.Input)
	out  func([]core.Action) []core.Action
}{
	{name: "deadlines are counted from the reply", in: func(in *core.Input) { in.Sent = in.Now }},
	{name: "an unknown outcome is taken for a loss", in: func(in *core.Input) {
		if in.Kind == core.Renewed && backend.ClassOf(in.Err) == backend.Unknown {
			in.Err = backend.ErrNotHeld
		}
	}},
	{name: "a loss is taken for an unknown outcome", in: func(in *core.Input) {
		if in.Kind == core.Renewed && errors.Is(in.Err, backend.ErrNotHeld) {
			in.Err = errReset
		}
	}},
	{name: "it claims without saying what it has seen", out: onEach(core.DoAcquire, func(a *core.Action) { a.Claim.Seen = backend.Seen{} })},
	{name: "it claims with another attempt each time", out: onEach(core.DoAcquire, func(a *core.Action) { a.Claim.Attempt[0] = byte(a.Request) })},
	{name: "it believes until the TTL", out: onEach(core.DoBelieve, func(a *core.Action) { a.Belief.Hard += int64(ms) * 600 })},
	{name: "it gives its work no order to end", out: onEach(core.DoEndWork, func(a *core.Action) { a.Kind = core.DoNotify })},
	{name: "it never opens a watch", out: onEach(core.DoOpenWatch, func(a *core.Action) { a.Kind = core.DoNotify })},
}

func TestBugsAreFound(t *testing.T) {
	for _, bug := range bugs {
		t.Run(bug.name, func(t *testing.T) {
			o := Options{New: func(cfg core.Config) Machine { return buggy{core.New(cfg), bug.in, bug.out} }}
			r, n := Hunt(1, 600, o)
			if r == nil {
				t.Fatalf("not found in %d seeds", n)
			}
			t.Logf("found after %d seeds: %s", n, r.Violations[0])
		})
	}
}

// A failing seed is told with few faults, and still fails.
func TestAFailingSeedIsShrunk(t *testing.T) {
	o := Options{New: func(cfg core.Config) Machine { return sleepless{core.New(cfg)} }}
	r, _ := Hunt(1, 600, o)
	if r == nil {
		t.Fatal("not found")
	}
	small := Shrink(r.Seed, o)
	if len(small.Violations) == 0 || small.Violations[0].Invariant != r.Violations[0].Invariant || len(small.Plan) >= len(r.Plan) {
		t.Fatalf("%d faults became %d, violations %v", len(r.Plan), len(small.Plan), small.Violations)
	}
	t.Logf("%d faults became %d:", len(r.Plan), len(small.Plan))
	for _, line := range small.Trace[max(0, len(small.Trace)-15):] {
		t.Log(line)
	}
}
