package sim

import (
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/record"
)

// session binds leases to sessions as Consul does where nothing is added to it: their time to live is a lower bound, sessions are ended by others, and an election that has lost its session
// stays closed for the lock-delay.
type session struct {
	linear
	delay  int64   // lock-delay
	closed []int64 // until then, by the store's clock
}

func (l *session) answer(r *request, e *record.Entry) bool {
	now := l.clock()
	closed := &l.closed[r.m.election]
	if !e.Live(now) && e.Holder.ID != "" && e.Expires > 0 { // it ran out
		*closed = max(*closed, e.Expires+l.lockDelay(e))
	}
	if !e.Live(now) && *closed > now.Now {
		rest := time.Duration(*closed - now.Now)
		switch r.kind {
		case core.DoAcquire:
			held := e.Record(r.m.cfg.Election, now)
			held.Reserved = backend.Reservation{For: rest}
			r.reply.Err = &backend.HeldError{Record: held}
			return true
		case core.DoGet:
			r.reply.Record = e.Record(r.m.cfg.Election, now)
			r.reply.Record.Reserved = backend.Reservation{For: rest}
			return true
		default:
		}
	}
	before := e.Expires
	l.linear.answer(r, e)
	if e.Expires > before && l.s.has(LongSession) {
		l.s.w.hit(LongSession)
		e.Expires += int64(e.TTL)
	}
	return true
}

// lockDelay is as long as the holder's TTL, which may be another than the others': for so long it believes.
func (l *session) lockDelay(e *record.Entry) int64 {
	if l.delay == 0 {
		return 0
	}
	return max(l.delay, int64(e.TTL))
}

func (l *session) strike(o *Occurrence) {
	if o.Kind != SessionKilled {
		l.linear.strike(o)
		return
	}
	now := l.clock()
	for i := range l.s.entries {
		e := &l.s.entries[i]
		if !e.Live(now) {
			continue
		}
		l.s.w.hit(SessionKilled)
		l.s.w.noteStore("the leader's session is ended by somebody")
		l.closed[i] = now.Now + l.lockDelay(e)
		e.Holder, e.Expires = backend.Candidate{}, 0
		l.s.past[i].add(l.s.w.now, *e)
		l.s.w.check.removed(i)
		l.s.w.quiet = max(l.s.w.quiet, l.s.w.now+l.lockDelay(e))
		l.s.w.changed(i)
	}
}
