package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/record"
)

// linear is a store that loses nothing, does one thing at a time, and expires leases by a monotonic clock: memory, sqlite, a single Postgres or Redis whose clock isn't set.
type linear struct {
	s       *server
	clocked bool // tokens are never below the clock in microseconds
}

func (l *linear) clock() record.Clock {
	now := l.s.osc.at(l.s.w.now)
	c := record.Clock{Now: now, Wall: time.Unix(0, epoch+now+l.s.stepped)}
	if l.clocked {
		c.Bound = c.Wall.UnixMicro()
	}
	return c
}

func (l *linear) answer(r *request, e *record.Entry) bool {
	l.s.perform(r, e, l.s.model.clock())
	return true
}

func (l *linear) received(*request, *core.Event) bool { return true }

func (l *linear) strike(o *Occurrence) {
	switch o.Kind {
	case Forgets:
		l.forget()
	case Restored:
		l.s.w.hit(Restored)
		l.s.goBack(o.Arg)
		l.s.dropWatches()
	default:
	}
}

func (l *linear) heal(*Occurrence) {}

// forget loses all that the store knows, once every candidate has seen it: one believer is promised where the others know whom they have to wait for.
func (l *linear) forget() {
	s := l.s
	if s.w.travelling > 0 { // an old claim would land in a store that doesn't remember why to refuse it
		return
	}
	for _, p := range s.w.alive {
		for _, m := range p.members {
			if m.m.counter != s.entries[m.election].Counter {
				return
			}
		}
	}
	s.w.hit(Forgets)
	for i := range s.entries {
		s.entries[i] = record.Entry{}
		s.past[i].add(s.w.now, record.Entry{})
		s.w.check.wentBack(i, &s.entries[i])
	}
	s.w.noSpawn = s.w.now + int64(4*s.w.longest) // a newcomer could not know whom to wait for
	s.w.quiet = max(s.w.quiet, s.w.now+int64(2*s.w.longest))
}
