package sim

import (
	"cmp"
	"slices"
	"time"
)

// Occurrence is one fault of a run. Times are nanoseconds of true time.
type Occurrence struct {
	Kind    Kind
	At, For int64
	Who     int // the process, or Leader; meaningless where the store is struck
	Arg     int64
}

// Leader as the target of a fault is whoever leads when it happens.
const Leader = -1

// drawPlan draws the faults of a seed: a random subset of all kinds, each a few times. Each kind has dice of its own, so a plan without one kind
// is the same plan but for that kind.
func (w *run) drawPlan() []Occurrence {
	d := newDice(w.seed, "plan")
	odds := d.between(2, 5) // a kind is in with one in so many
	most := 1 + d.upTo(5)   // and occurs so often
	var plan []Occurrence
	for k := range kinds {
		d := newDice(w.seed, specs[k].name)
		in, n := d.oneIn(odds), 1+d.upTo(most)
		if slices.Contains(w.world.forced, k) {
			in, n = true, n+2
		}
		if !in || specs[k].needs&^w.world.features != 0 {
			continue
		}
		for range n {
			plan = w.draw(&d, k, plan)
		}
	}
	slices.SortStableFunc(plan, func(a, b Occurrence) int { return cmp.Compare(a.At, b.At) })
	return plan
}

// draw adds one occurrence of a kind.
func (w *run) draw(d *dice, k Kind, plan []Occurrence) []Occurrence {
	spec := &specs[k]
	o := Occurrence{Kind: k, At: int64(time.Second) + d.upTo(w.calm-2*int64(time.Second)), Who: int(d.upTo(int64(len(w.slots))))}
	if spec.whole {
		o.At, o.For = 0, w.end+1
		if k == Beside || k == Tries { // somebody goes on wanting
			o.Who = 1 + o.Who%(len(w.slots)-1)
		}
	} else if d.oneIn(2) && k != Swizzled {
		o.Who = Leader
	}
	if spec.long[1] > 0 {
		o.For = d.between(spec.long[0], spec.long[1])
		if d.oneIn(2) { // short ones are as interesting as long ones
			o.For = int64(spec.long[0]) + (o.For-int64(spec.long[0]))/8
		}
		o.For = min(o.For, w.calm-o.At)
	}
	o.Arg = d.measure(spec)
	if k == StoreClockSet && w.world.jump > 0 {
		o.Arg = d.between(w.world.jump/3, w.world.jump)
	}
	if k != Swizzled {
		return append(plan, o)
	}
	for i := range w.slots { // all links one by one, and back in another order
		o.Who = i
		o.For = min(o.For, w.calm-o.At)
		plan = append(plan, o)
		o.At += d.upTo(int64(400 * time.Millisecond))
		o.For = max(int64(100*time.Millisecond), o.For+d.either(d.upTo(int64(2*time.Second))))
		if o.At >= w.calm {
			break
		}
	}
	return plan
}

// measure draws an occurrence's measure. Times are drawn by order of magnitude.
func (d *dice) measure(spec *spec) int64 {
	low, high := int64(spec.arg[0]), int64(spec.arg[1])
	if high == 0 {
		return 0
	}
	arg := low + d.upTo(high-low+1)
	for arg/2 > low && high > 100*low && d.oneIn(2) {
		arg /= 2
	}
	if spec.sign {
		arg = d.either(arg)
	}
	return arg
}
