package sim

import "github.com/tenure-go/tenure/internal/record"

// walled expires leases by the server's wall clock, which somebody sets: Redis, Postgres.
type walled struct{ linear }

func (l *walled) clock() record.Clock {
	c := l.linear.clock()
	c.Now += l.s.stepped
	return c
}

// strike sets the clock. Steps that the margins allow for come once in a TTL at most.
func (l *walled) strike(o *Occurrence) {
	w := l.s.w
	if o.Kind != StoreClockSet {
		l.linear.strike(o)
		return
	}
	if w.now-l.s.since[StoreClockSet] < int64(3*w.longest) {
		return
	}
	w.hit(StoreClockSet)
	l.s.since[StoreClockSet] = w.now
	l.s.stepped += o.Arg
	if o.Arg < 0 { // leases last longer
		w.quiet = max(w.quiet, w.now-o.Arg)
	}
}
