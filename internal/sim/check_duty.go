package sim

import (
	"errors"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/core"
)

// duties are what the checker remembers of what a member owes: nothing goes wrong at once where it isn't done.
type duties struct {
	renewal  *request        // the latest
	renewed  int64           // monotonic reading when it was sent
	began    int64           // monotonic reading at the beginning of the term
	sealing  int64           // monotonic reading since when it tells guards of a term
	refused  backend.Attempt // a renewal of it was definitely refused: there is nothing to give back
	resigned bool            // the latest term was ended by a resignation
	ended    int64           // monotonic reading when its work was told to end
	drains   int64           // monotonic reading since when it renews a lease without leading; 0: it doesn't
	handed   backend.Attempt // the term with
	handover backend.Handover
	until    int64 // monotonic reading until which it is kept for nobody
}

// renews looks at a renewal that is about to be sent: there is one at a time.
func (c *checker) renews(r *request) {
	d := &r.m.m.duties
	if before := d.renewal; before != nil && !before.answered && before.lease.Attempt == r.lease.Attempt {
		c.w.violate(I14, r.m, "renews while a renewal is under way")
	}
	d.renewal, d.renewed = r, r.sent.Mono
}

// seals looks at a request to a guard: guards that can't be reached must not keep an election from everybody for long.
func (c *checker) seals(r *request) {
	if took := time.Duration(r.sent.Mono - r.m.m.duties.sealing); took > r.m.cfg.TTL {
		c.w.violate(I4, r.m, "has told guards of its term for %v, and leads not yet", took)
	}
}

// revived looks at a belief that follows a renewal's reply: one that comes after the deadline doesn't bring a term back that callers know to be over.
func (c *checker) revived(m *member, b *core.Belief) {
	before, now := &m.belief, m.p.read()
	if b.Leading && before.Leading && b.Term == before.Term && now.HasBoot && int64(clock.Elapsed(before.Anchor, now)) >= before.Soft {
		c.w.violate(I15, m, "leads again after its deadline")
	}
}

// tells takes note of the order to end a term's work.
func (c *checker) tells(m *member, cause error) {
	d := &m.m.duties
	d.resigned = m.work.active && cause == core.ErrResigned //nolint:errorlint // a wrapped one is the end of a Run
	d.ended = m.p.read().Mono
}

// outlives looks at a term whose deadline has passed: it has at least tried to renew.
func (c *checker) outlives(m *member, cause error) {
	d := &m.m.duties
	since := time.Duration(m.p.read().Mono - d.began)
	tried := d.renewal != nil && d.renewal.lease.Attempt == m.work.token.Attempt
	if m.work.active && errors.Is(cause, core.ErrDeadline) && !tried && since > m.cfg.RenewInterval+time.Second && !m.hindered(since) {
		c.w.violate(I6, m, "loses its term after %v, and has never tried to renew", since)
	}
}

// hindered reports that the member has not had the processor all the time lately.
func (m *member) hindered(since time.Duration) bool {
	return m.p.asleep > m.p.w.now-int64(since)-int64(m.p.w.longest) || m.p.slot.has(Starved) || m.p.slot.has(Stutter)
}

// drained looks at work that outlives its lease: after a resignation the lease is renewed meanwhile.
func (c *checker) drained(m *member, cause error) {
	d := &m.m.duties
	since := time.Duration(m.p.read().Mono - d.ended)
	due := m.cfg.RenewInterval + m.cfg.AttemptTimeout + m.cfg.RenewInterval/2 + time.Second
	if errors.Is(cause, core.ErrResigned) && d.refused != m.work.token.Attempt && d.renewed < d.ended && since > due && !m.hindered(since) {
		c.w.violate(I6, m, "has not renewed its lease in the %v since its work was told to end", since)
	}
}

// drains looks, once a second, for how long work has been given time to end.
func (c *checker) drains(m *member) {
	d, now := &m.m.duties, m.p.read().Mono
	if m.belief.Term != 0 && !m.belief.Leading && m.work.active && !m.work.told {
		c.w.violate(I6, m, "leads no more, and its work was not told")
	}
	switch {
	case m.belief.Leading || !m.believed(m.belief.Hard):
		d.drains = 0
	case d.drains == 0:
		d.drains = now
	case time.Duration(now-d.drains) > m.cfg.DrainTimeout+c.w.longest:
		c.w.violate(I6, m, "has waited for the end of its work for %v, and holds the election", time.Duration(now-d.drains))
	}
}

// givesBack looks at what follows when work has returned.
func (c *checker) givesBack(m *member, attempt backend.Attempt) {
	if m.works() && m.m.released != attempt && m.m.duties.refused != attempt {
		c.w.violate(I6, m, "its work has returned, and its lease is not given back")
	}
}

// resigns takes note of what is to become of the election.
func (c *checker) resigns(m *member, h backend.Handover) {
	d := &m.m.duties
	d.handed, d.handover, d.until = m.work.token.Attempt, h, m.p.read().Mono+int64(h.For)
}

// handsOver looks at a release: what was said about the successor stands.
func (c *checker) handsOver(r *request) {
	d := &r.m.m.duties
	if r.lease.Attempt != d.handed {
		return
	}
	left := int64(0) // of the time for which it is kept for nobody
	if d.handover.To == "" {
		left = d.until - r.sent.Mono
	}
	if r.handover.To != d.handover.To || int64(r.handover.For) < left {
		c.w.violate(I5, r.m, "hands over to %q for %v, and not to %q for %v", r.handover.To, r.handover.For, d.handover.To, d.handover.For)
	}
}

// stops looks at a Run that has ended without an error, or with its work's: it may only if its work has returned by itself, or it has resigned.
func (c *checker) stops(m *member, err error) {
	serves := m.mode == core.Serve
	switch {
	case !m.works():
	case err == nil && m.m.lost:
		c.w.violate(I16, m, "its Run has ended after a loss")
	case err == nil && serves && m.m.duties.resigned, serves && errors.Is(err, errWork):
		c.w.violate(I16, m, "it serves no more, and nobody has told it to stop")
	}
}
