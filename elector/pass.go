package elector

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/joint"
)

// Pass is the right to run one tick, from Gate.Enter to Leave. It is safe for concurrent use.
type Pass struct {
	gate   *Gate
	term   *Term
	ctx    context.Context //nolint:containedctx // what the work gets
	cancel context.CancelCauseFunc
	until  time.Time // the election is kept until then

	once     sync.Once
	returned chan struct{} // closed by Leave: the work is over
	left     chan struct{} // closed when there is nothing more that Leave waits for
	over     chan struct{} // closed when the gate is free again
	kept     bool          // the work is over and the lease renewed for the rest of AtLeast; under gate.mu
}

// Context returns the context of the work: it ends when the lease is lost, after GateConfig.AtMost, when the gate is closed, and by Leave. It carries the fencing token.
func (p *Pass) Context() context.Context { return p.ctx }

// Term returns the leadership under which the work is done. To end it, call Leave rather than Term.Resign, which knows nothing of GateConfig.AtLeast.
func (p *Pass) Term() *Term { return p.term }

// Do calls work as Gate.Do would: its context ends with Context and with ctx, and carries ctx's values and the fencing token. The end of ctx ends the pass's work as a whole. Errors are those of Gate.Do.
func (p *Pass) Do(ctx context.Context, work func(ctx context.Context, term *Term) error) error {
	if work == nil {
		return p.gate.fail(fmt.Errorf("%w: Do needs a function", backend.ErrInvalid))
	}
	stop := context.AfterFunc(ctx, func() { p.cancel(context.Cause(ctx)) })
	defer stop()
	joined, end := joint.With(fence.NewContext(ctx, p.term.Token()), p.ctx)
	defer end(context.Canceled)
	return p.gate.wrap(verdict(joined, p.term, work(joined, p.term)))
}

// Leave says that the work is over. It waits until the election is given back or, for the rest of GateConfig.AtLeast, kept; it returns ctx's cause if that ends first, and the gate sees to it all the same.
// A second call waits as well.
func (p *Pass) Leave(ctx context.Context) error {
	p.once.Do(func() { close(p.returned) })
	select {
	case <-p.left:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// start begins the work. While the store was asked, which is long where a dead holder had to be watched, another server may have asked as well, and has yet to see the outcome: so the election is kept for as
// long as the question took, too.
func (p *Pass) start(term *Term, asked time.Duration) {
	p.term = term
	p.ctx, p.cancel = joint.With(term.Context(), term.Context())
	if least := p.gate.cfg.AtLeast; least > 0 {
		p.until = time.Now().Add(max(least, asked))
	}
	go p.attend()
}

// attend sees the pass through to its end.
func (p *Pass) attend() {
	defer p.gate.free(p)
	inTime := p.awaitWork()
	p.cancel(ErrResigned)
	if inTime {
		p.keep()
		p.leave(context.Background(), min(p.rest(), p.gate.cfg.Elector.TTL))
	}
	select {
	case <-p.left:
	default:
		close(p.left)
	}
}

// awaitWork returns when the work has. It reports whether that was while the lease was still renewed or at least not given up.
func (p *Pass) awaitWork() (inTime bool) {
	var limit <-chan time.Time
	if most := p.gate.cfg.AtMost; most > 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-p.returned:
		return true
	case <-limit:
		p.cancel(fmt.Errorf("elector: gate %q: %w after %v", p.term.Election(), ErrAtMost, p.gate.cfg.AtMost))
	case <-p.ctx.Done():
	}
	drain := time.NewTimer(p.gate.cfg.Elector.DrainTimeout)
	defer drain.Stop()
	select {
	case <-p.returned:
		return true
	case <-p.term.Context().Done(): // the elector stops renewing by itself
		grace := time.Now().Add(p.gate.cfg.Elector.StepDownMargin) // where the store says that the lease is gone, there is no time left, but the work must be told first
		return p.awaitEnd(func() time.Duration { return max(p.term.Remaining(), time.Until(grace)) })
	case <-drain.C:
		return p.giveUp()
	}
}

// giveUp stops renewing for work that doesn't return. Nobody can be elected for one TTL, as if the process had died.
func (p *Pass) giveUp() bool {
	believed := time.Now().Add(p.gate.cfg.Elector.Timing().BelieveFor)
	now, cancel := context.WithCancel(context.Background())
	cancel() // there is nothing to wait for
	p.leave(now, p.gate.cfg.Elector.TTL)
	p.awaitEnd(func() time.Duration { return time.Until(believed) })
	return false
}

// awaitEnd waits for the work or for the end of belief in its lease. Work that goes on then is an overrun.
func (p *Pass) awaitEnd(remaining func() time.Duration) (inTime bool) {
	for {
		left := remaining()
		if left <= 0 {
			p.overrun()
			<-p.returned
			return false
		}
		timer := time.NewTimer(left)
		select {
		case <-p.returned:
			timer.Stop()
			return true
		case <-timer.C: // it may have been renewed
		}
	}
}

func (p *Pass) overrun() {
	cause := context.Cause(p.ctx)
	cfg := p.gate.cfg.Elector
	cfg.Logger.Error("elector: the work of a gate outlives its lease",
		slog.String("election", cfg.Election), slog.String("candidate", cfg.Candidate.ID), slog.Int64("token", p.term.token.Value), slog.Any("error", cause))
	if cfg.OnOverrun != nil {
		cfg.OnOverrun(Overrun{Election: cfg.Election, Token: p.term.Token(), Cause: cause})
	}
}

// keep renews the lease until what is left of AtLeast fits into a reservation.
func (p *Pass) keep() {
	wait := p.rest() - p.gate.cfg.Elector.TTL
	if wait <= 0 {
		return
	}
	p.gate.mu.Lock()
	p.kept = true
	p.gate.mu.Unlock()
	close(p.left)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.term.Context().Done(): // lost, or the gate is closed
	}
}

// leave gives the election back, or keeps it for a while. The elector tries until that is done or the lease has run out.
func (p *Pass) leave(ctx context.Context, hold time.Duration) {
	if hold > 0 {
		_ = p.term.HandOver(ctx, backend.Handover{For: hold}) // fails only with ctx
		return
	}
	_ = p.term.Resign(ctx)
}

// rest is what is left of AtLeast.
func (p *Pass) rest() time.Duration { return max(0, time.Until(p.until)) }

// held is what a caller is told while this gate keeps its election.
func (p *Pass) held() error {
	cfg := p.gate.cfg.Elector
	return &backend.HeldError{Record: backend.Record{
		Election: cfg.Election, Holder: cfg.Candidate, Token: p.term.Token().Value, Counter: p.term.Token().Value, Attempt: p.term.Token().Attempt, TTL: cfg.TTL,
		Remaining: p.rest(),
	}}
}
