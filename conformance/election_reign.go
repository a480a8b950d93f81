package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure/fence"
)

// reign is a term as its function saw it.
type reign struct {
	leadership
	player *player
	ctx    context.Context //nolint:containedctx // the term's, to be looked at
	token  fence.Token
	began  instant

	mu       sync.Mutex
	ended    instant // its context was seen to have ended
	cause    error
	returned instant // its function is about to return; zero: not yet
	leading  span
	valid    span
	alive    instant // the last one after which its context had not ended
	failures []Failure
}

// span is a time in which something was true for certain: it was seen to be true before from and after to, and doesn't become true again.
type span struct{ from, to instant }

func (s *span) add(before, after instant) {
	if s.from.seq == 0 {
		s.from = after
	}
	s.to = before
}

func (s *span) overlaps(o *span) bool {
	known := s.from.seq != 0 && o.from.seq != 0 && s.from.before(s.to) && o.from.before(o.to)
	return known && s.from.before(o.to) && o.from.before(s.to)
}

// begin notes a term's first instant, and looks at it and at all that should be over.
func (s *stage) begin(ctx context.Context, p *player, l leadership) *reign {
	r := &reign{leadership: l, player: p, ctx: ctx, token: l.Token(), began: s.history.now()}
	s.shown.Lock()
	others := s.reigns
	s.reigns = append(slices.Clip(others), r)
	s.shown.Unlock()
	s.look(r)
	for _, o := range others {
		s.look(o)
	}
	s.look(r)
	s.began <- r
	return r
}

func (s *stage) end(r *reign) {
	r.noteEnd()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.returned = s.history.now()
}

// noteEnd notes that the context has ended, and why.
func (r *reign) noteEnd() {
	if r.ctx.Err() == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended.seq == 0 {
		r.ended, r.cause = r.player.stage.history.now(), context.Cause(r.ctx)
	}
}

// why waits for the end of the term's context and returns its cause.
func (s *stage) why(r *reign, within time.Duration, after string) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-r.ctx.Done():
	case <-timer.C:
		s.late("the term's context has not ended %v after %s", within, after)
	}
	return context.Cause(r.ctx)
}

// look asks the elector what may be believed of a term. What it says counts from after the first instant, so a look that was itself held up accuses nobody.
func (s *stage) look(r *reign) {
	before := s.history.now()
	leading, valid, alive := r.player.Leading(), r.Valid(), r.ctx.Err() == nil
	after := s.history.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.returned.seq != 0 { // its candidate may lead again
		return
	}
	if leading {
		r.leading.add(before, after)
	}
	if valid {
		r.valid.add(before, after)
	}
	if alive {
		r.alive = before
	}
	granted := s.history.lastGrant(r.player.client, r.token.Attempt)
	if granted == nil {
		return
	}
	ttl := min(s.config.TTL, granted.granted.TTL)
	overdue := before.at.Sub(granted.sent.at) - s.timing.CancelAfter
	hard := before.at.Sub(granted.sent.at) - s.timing.BelieveFor
	notice := before.at.Sub(granted.replied.at.Add(ttl - s.config.StepDownMargin))
	switch {
	case leading && overdue >= 0:
		r.fail(e7, "Leading of %s is still true %v after the deadline", r.player.id, overdue)
	case valid && hard >= 0:
		r.fail(e7, "Valid of %s's term is still true %v after the deadline", r.player.id, hard)
	case alive && notice > 0:
		r.fail(e3, "the context of %s's term has not ended, less than StepDownMargin (%v) before its lease ends", r.player.id, s.config.StepDownMargin-notice)
	case alive && overdue >= 0:
		r.fail(e7, "the context of %s's term has no error %v after the deadline", r.player.id, overdue)
	}
}

// fail notes the first failure of each rule; callers hold mu.
func (r *reign) fail(rule Rule, format string, args ...any) {
	for _, f := range r.failures {
		if f.Rule == rule {
			return
		}
	}
	r.failures = append(r.failures, Failure{rule, fmt.Sprintf(format, args...)})
}
