package sim

import (
	"slices"
	"time"

	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/record"
)

// model is what distinguishes one kind of store from another. linear has all methods; the others replace some.
type model interface {
	// clock is the time by which the store judges.
	clock() record.Clock
	// answer performs a request on its entry and puts the answer into r.reply; false: there is none.
	answer(r *request, e *record.Entry) bool
	// received is the driver's part at the sender, before the caller gets the reply; false: it has gone on by itself.
	received(r *request, e *core.Event) bool
	// strike and heal are faults of this kind of store.
	strike(o *Occurrence)
	heal(o *Occurrence)
}

// server is the store as all processes see it: one model, and what befalls every kind of server.
type server struct {
	w       *run
	model   model
	osc     oscillator
	stepped int64 // the wall clock was set by this
	entries []record.Entry
	past    []history
	depth   [kinds]int8
	arg     [kinds]int64
	since   [kinds]int64
	changes int // the last answer changed what watches are told of
}

func (s *server) has(k Kind) bool { return s.depth[k] > 0 }
func (s *server) down() bool      { return s.has(StoreDown) || s.has(LeaderChange) || s.has(Promotion) }

// delay is how long a request has to wait before the server looks at it.
func (s *server) delay(r *request) int64 {
	if s.has(Stalled) && r.m.p.w.now < s.since[Stalled]+s.arg[Stalled] { // hangs, and then does everything at once
		s.w.hit(Stalled)
		return s.since[Stalled] + s.arg[Stalled] - s.w.now
	}
	if s.has(SlowDisk) && r.kind != core.DoGet && !r.slowed {
		s.w.hit(SlowDisk)
		r.slowed = true
		return s.w.serverDice.upTo(s.arg[SlowDisk])
	}
	return 0
}

// serve answers, or reports that no answer comes.
func (s *server) serve(r *request) bool {
	switch {
	case s.down():
		for _, k := range [...]Kind{StoreDown, LeaderChange, Promotion} {
			if s.has(k) {
				s.w.hit(k)
			}
		}
		r.reply.Err = errReset
		return s.w.serverDice.oneIn(2) // the rest isn't even refused
	case s.has(Overwritten):
		s.w.hit(Overwritten)
		r.reply.Err = errForeign
		return true
	case s.has(DiskFull) && (r.kind == core.DoAcquire || r.kind == core.DoRelease):
		s.w.hit(DiskFull)
		r.reply.Err = errFull
		return true
	case s.has(StaleReads) && r.kind == core.DoGet:
		s.w.hit(StaleReads)
		old := s.past[r.m.election].before(s.w.now - s.arg[StaleReads])
		r.reply.Record = old.Record(r.m.cfg.Election, s.model.clock())
		r.sight.sign = signOf(&old)
		return true
	}
	e := &s.entries[r.m.election]
	before := *e
	s.changes = 0
	answered := s.model.answer(r, e)
	if *e != before {
		s.past[r.m.election].add(s.w.now, *e)
		s.w.check.applied(r, &before, e)
	}
	if s.has(FreeDeleted) && r.kind == core.DoRelease && s.changes > 0 {
		s.w.hit(FreeDeleted)
		*e = record.Entry{Counter: e.Counter}
		s.past[r.m.election].add(s.w.now, *e)
	}
	if s.changes > 0 {
		s.w.changed(r.m.election)
	}
	return answered
}

// perform applies the contract's rules, which memory, sqlite and postgres share.
func (s *server) perform(r *request, e *record.Entry, c record.Clock) {
	switch r.kind {
	case core.DoGet:
		r.reply.Record = e.Record(r.m.cfg.Election, c)
	case core.DoAcquire:
		before := e.Counter
		r.reply.Lease, r.reply.Err = e.Acquire(r.claim, c)
		if e.Counter != before {
			s.changes++
		}
	case core.DoRenew:
		r.reply.Lease, r.reply.Err = e.Renew(r.lease, c)
	case core.DoRelease:
		var changed bool
		if changed, r.reply.Err = e.Release(r.lease, r.handover, c); changed {
			s.changes++
		}
	default:
	}
	if s.has(LongerGrant) && r.reply.Err == nil && (r.kind == core.DoAcquire || r.kind == core.DoRenew) {
		s.w.hit(LongerGrant)
		extra := time.Duration(s.arg[LongerGrant])
		e.Expires += int64(extra)
		e.TTL += extra
		r.reply.Lease.TTL = e.TTL
	}
}

// goBack makes the server what it was age ago.
func (s *server) goBack(age int64) {
	for i := range s.entries {
		s.entries[i] = s.past[i].before(s.w.now - age)
		s.past[i].add(s.w.now, s.entries[i])
		s.w.check.wentBack(i, &s.entries[i])
	}
}

// dropWatches ends all connections.
func (s *server) dropWatches() {
	for _, p := range s.w.alive {
		for _, m := range p.members {
			m.drop()
		}
	}
}

// history is what an entry was, for replicas, stale reads and backups.
type history struct{ versions []version }

type version struct {
	at    int64
	entry record.Entry
}

const mostVersions = 128

func (h *history) add(at int64, e record.Entry) {
	if len(h.versions) == mostVersions {
		h.versions = append(h.versions[:0], h.versions[mostVersions/2:]...)
	}
	h.versions = append(h.versions, version{at, e})
}

// before returns the entry as it was at a time, or the oldest one known.
func (h *history) before(at int64) record.Entry {
	for _, v := range slices.Backward(h.versions) {
		if v.at <= at {
			return v.entry
		}
	}
	return record.Entry{}
}
