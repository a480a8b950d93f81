package explore

import (
	"errors"
	"runtime"
	"sync"

	"github.com/tenure-go/tenure/backend"
)

// Result is what a search has found.
type Result struct {
	States   int
	Steps    int // tried; many lead to states that were there already
	Depth    int // steps from the beginning to the last states
	Fixpoint bool
	Broken   string   // the invariant that doesn't hold; empty: all do
	Trace    []string // the shortest way there
}

// Search goes through all states of w, those first that take fewest steps.
func Search(w World) Result {
	known := &visited{}
	var r Result
	var p picture
	var layer []*state
	for _, s := range w.begins() {
		if known.add(p.of(s)) {
			layer = append(layer, s)
		}
	}
	for ; len(layer) > 0; r.Depth++ {
		if w.Layer != nil {
			w.Layer(r.Depth, len(layer))
		}
		r.States += len(layer)
		if r.States >= w.Most {
			return r
		}
		next, steps, broken := expand(layer, known)
		r.Steps += steps
		if broken != nil {
			r.Broken, r.Trace = broken.broken, broken.story()
			return r
		}
		layer = next
	}
	r.Fixpoint = true
	return r
}

// expand takes one step from each state of a layer.
func expand(layer []*state, known *visited) (next []*state, steps int, broken *state) {
	workers := min(runtime.GOMAXPROCS(0), 1+len(layer)/1000)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	for k := range workers {
		wait.Go(func() {
			var p picture
			var found, fresh []*state
			var wrong *state
			tried := 0
			for n := k; n < len(layer); n += workers {
				s := layer[n]
				found = s.next(found[:0])
				layer[n] = nil
				tried += len(found)
				if s.broken != "" {
					wrong = s
				}
				for _, c := range found {
					if c.broken != "" {
						wrong = c
					} else if known.add(p.of(c)) {
						fresh = append(fresh, c)
					}
				}
			}
			mutex.Lock()
			defer mutex.Unlock()
			next, steps = append(next, fresh...), steps+tried
			if wrong != nil {
				broken = wrong
			}
		})
	}
	wait.Wait()
	return next, steps, broken
}

// visited is the set of states that were seen.
type visited struct {
	parts [64]struct {
		sync.Mutex
		seen map[uint64]struct{}
	}
}

// add reports whether a state is new.
func (v *visited) add(number uint64) bool {
	part := &v.parts[number%64]
	part.Lock()
	defer part.Unlock()
	if part.seen == nil {
		part.seen = map[uint64]struct{}{}
	}
	before := len(part.seen)
	part.seen[number] = struct{}{}
	return len(part.seen) > before
}

// heldBy returns the record that a refusal carries.
func heldBy(err error) *backend.Record {
	if held, ok := errors.AsType[*backend.HeldError](err); ok {
		return &held.Record
	}
	return nil
}
