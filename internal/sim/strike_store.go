package sim

import "github.com/tenure-go/tenure/internal/record"

// strikeStore lets a fault of the store happen.
func (w *run) strikeStore(o *Occurrence) {
	s := &w.server
	switch o.Kind {
	case StoreDown:
		s.dropWatches()
	case StoreRateTurned:
		w.hit(StoreRateTurned)
		s.osc.turn(w.now, o.Arg)
	case Raised, LeaderDeleted:
		w.operate(o)
	default:
		s.model.strike(o)
	}
}

// operate is what an operator does to the records.
func (w *run) operate(o *Occurrence) {
	s := &w.server
	now := s.model.clock()
	for i := range s.entries {
		e := &s.entries[i]
		before := *e
		switch o.Kind {
		case Raised:
			by := o.Arg
			if w.world.features&(isForgetful|isReplicated|isRestored) != 0 { // a counter far above the clock is lost with the rest
				by %= 1000
			}
			if e.Version == 0 || e.Raise(e.Counter+by, now) != nil {
				continue
			}
		case LeaderDeleted:
			if !e.Live(now) {
				continue
			}
			*e = record.Entry{Counter: e.Counter}
			w.check.removed(i)
			w.changed(i)
		default:
		}
		if *e != before {
			w.hit(o.Kind)
			s.past[i].add(w.now, *e)
		}
	}
}
