package sim

import (
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/record"
)

// beat expires nothing: a challenger that has seen no sign of life for the holder's TTL, on its own monotonic clock, takes over by compare-and-swap on that sign. So do Consul's leases.
type beat struct{ linear }

// sign is everything that a grant, a renewal or a release changes.
type sign struct {
	token    int64
	attempt  backend.Attempt
	renewals int64
	released bool
}

// sight is what a driver has read on behalf of a request.
type sight struct {
	sign    sign
	entry   record.Entry
	decided bool // and has decided to take over
}

// sighting is since when a process has seen a sign unchanged.
type sighting struct {
	sign  sign
	since int64
	known bool
}

func signOf(e *record.Entry) sign { return sign{e.Token, e.Attempt, e.Renewals, e.Released} }

const noEnd = int64(1) << 62

func (l *beat) answer(r *request, e *record.Entry) bool {
	now := l.clock()
	if r.kind == core.DoAcquire && !r.sight.decided || r.kind == core.DoGet {
		r.sight.sign, r.sight.entry = signOf(e), *e
		r.reply.Record = l.show(r, e)
		return true
	}
	if r.kind != core.DoAcquire {
		l.s.perform(r, e, now)
		l.endless(e)
		return true
	}
	if signOf(e) != r.sight.sign {
		r.reply.Err = backend.ErrOutdated
		return true
	}
	before := e.Expires
	repeated := e.Holder.ID == r.claim.Candidate.ID && e.Attempt == r.claim.Attempt
	if !repeated {
		e.Expires = 0 // silent for its TTL, or free
	}
	l.s.perform(r, e, now)
	if repeated {
		e.Renewals++ // a sign of life
	}
	if e.Expires == 0 {
		e.Expires = before
	}
	l.endless(e)
	return true
}

func (l *beat) endless(e *record.Entry) {
	if e.Holder.ID != "" {
		e.Expires, e.Mode = noEnd, backend.Beat
	}
}

func (l *beat) show(r *request, e *record.Entry) backend.Record {
	c := l.clock()
	rec := e.Record(r.m.cfg.Election, c)
	if rec.Held() {
		rec.Remaining, rec.Mode = e.TTL, backend.Beat
	}
	return rec
}

// received times what was read, and goes on with a take-over where it may.
func (l *beat) received(r *request, e *core.Event) bool {
	if e.Err != nil || r.kind != core.DoGet && (r.kind != core.DoAcquire || r.sight.decided) {
		return true
	}
	p := r.m.p
	seen := &p.seen[r.m.election]
	now := p.read().Mono
	if !seen.known || seen.sign != r.sight.sign {
		*seen = sighting{r.sight.sign, now, true}
	}
	silent := time.Duration(now - seen.since)
	if e.Record.Held() {
		e.Record.Remaining = max(0, e.Record.TTL-silent)
	}
	if r.kind == core.DoGet {
		return true
	}
	own := e.Record.Holder.ID == r.claim.Candidate.ID && (e.Record.Attempt == r.claim.Attempt || slices.Contains(r.claim.Abandoned, e.Record.Attempt))
	if e.Record.Held() && !own && e.Record.Remaining > 0 {
		e.Err = &backend.HeldError{Record: e.Record}
		return true
	}
	r.sight.decided = true
	r.reply = core.Event{}
	p.carry(r)
	return false
}
