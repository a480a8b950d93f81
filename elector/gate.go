package elector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Gate stands in front of a job that several servers have in their schedules, and lets one of them run each tick.
//
//	err := gate.Do(ctx, func(ctx context.Context, term *elector.Term) error { return report(ctx) })
//
// A tick that finds the election held is not for this server: errors.Is(err, backend.ErrHeld). Ticks are not queued.
//
// The lease is renewed while the work runs. Work is cancelled when the lease is lost, and after GateConfig.AtMost. If it doesn't return within Config.DrainTimeout after
// that, renewals stop and another may run after one more TTL: Config.OnOverrun is called if the work goes on even then.
//
// When the work is done sooner, the election is kept for the rest of GateConfig.AtLeast. As much of that as fits into one TTL is noted at the store and needs this process no longer;
// before that, if the TTL was set to less than AtLeast, the process renews. A lease that was lost keeps nobody out.
//
// It is one run per tick, not once: a tick is for whoever comes first, and is not made up for when that one fails or dies. What must not happen twice needs a guard, see package fence.
//
// Make one with NewGate, one for each job; it is safe for concurrent use.
type Gate struct {
	elector *Elector
	cfg     GateConfig
	closing chan struct{} // closed by Close

	mu   sync.Mutex
	pass *Pass // under way; nil while the gate is free
}

// NewGate returns a gate. It returns an error that wraps backend.ErrInvalid and lists every problem when the configuration is not valid. It does not contact the store.
func NewGate(cfg GateConfig) (*Gate, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	e, err := New(cfg.Elector)
	if err != nil {
		return nil, err
	}
	cfg.Elector = e.Config()
	return &Gate{elector: e, cfg: cfg, closing: make(chan struct{})}, nil
}

// Config returns the configuration with all defaults filled in.
func (g *Gate) Config() GateConfig { return g.cfg }

// Leader asks the store who holds the election. It returns the store's error, wrapped.
func (g *Gate) Leader(ctx context.Context) (Leader, error) { return g.elector.Leader(ctx) }

// Do asks once whether this server may run this tick, and calls work if so. The context given to work ends when the lease is lost, after AtMost, and with ctx; context.Cause tells which. It carries
// the fencing token. Do returns when work has.
//
// It returns an error that wraps backend.ErrHeld when another server runs the tick or has done so, ErrBusy when an earlier call of this gate is still at work, ErrClosed after Close, or
// the store's error; work was not called then. Otherwise it returns work's error. Where that is context.Canceled or the cause of its context, it returns that cause, wrapped. It also returns an
// error that wraps the cause when the lease was lost before work returned nil: another may have been at work beside it.
//
// A panic of work passes through Do, and the election is given back as after a return.
func (g *Gate) Do(ctx context.Context, work func(ctx context.Context, term *Term) error) error {
	if work == nil {
		return g.fail(fmt.Errorf("%w: Do needs a function", backend.ErrInvalid))
	}
	p, err := g.Enter(ctx)
	if err != nil {
		return err
	}
	defer func() { // also when work panics or ends its goroutine
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.cfg.Elector.AttemptTimeout)
		defer cancel()
		_ = p.Leave(patience) // what is not done by then goes on behind Do
	}()
	return p.Do(ctx, work)
}

// Enter asks once whether this server may run this tick, for callers whose work is not one function: call Pass.Leave when it is over. ctx bounds the question, not the work. Errors are those of Do.
func (g *Gate) Enter(ctx context.Context) (*Pass, error) {
	p, err := g.reserve()
	if err != nil {
		return nil, g.fail(err)
	}
	began := time.Now()
	term, err := g.elector.TryCampaign(ctx)
	if err != nil {
		g.free(p)
		return nil, g.wrap(err)
	}
	p.start(term, time.Since(began))
	return p, nil
}

// Close refuses further ticks, tells work that is under way to end, and returns when it has and the election is given back; for the rest of AtLeast, up to one TTL, it stays kept. It must not be called by the
// work, for whose end it waits. A second call waits as well. It returns nil.
func (g *Gate) Close() error {
	g.mu.Lock()
	p := g.pass
	if !g.closed() {
		close(g.closing)
	}
	g.mu.Unlock()
	_ = g.elector.Close()
	if p != nil {
		<-p.over
	}
	return nil
}

func (g *Gate) closed() bool {
	select {
	case <-g.closing:
		return true
	default:
		return false
	}
}

// reserve makes this caller the only one.
func (g *Gate) reserve() (*Pass, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed():
		return nil, ErrClosed
	case g.pass == nil:
		g.pass = &Pass{gate: g, returned: make(chan struct{}), left: make(chan struct{}), over: make(chan struct{})}
		return g.pass, nil
	case g.pass.kept:
		return nil, g.pass.held()
	}
	return nil, ErrBusy
}

// free ends a pass.
func (g *Gate) free(p *Pass) {
	g.mu.Lock()
	g.pass = nil
	g.mu.Unlock()
	close(p.over)
}

// verdict is what a caller is told of work that has returned under ctx and term.
func verdict(ctx context.Context, term *Term, err error) error {
	_ = ctx.Err() // asks the clock
	cause := context.Cause(ctx)
	ended := term.Context().Err() != nil
	lost := ended && (!term.Valid() || !errors.Is(context.Cause(term.Context()), ErrResigned))
	if cause != nil && (lost && err == nil || errors.Is(err, context.Canceled) || errors.Is(err, cause)) {
		return cause
	}
	return err
}

func (g *Gate) fail(err error) error {
	return fmt.Errorf("elector: gate %q: %w", g.cfg.Elector.Election, err)
}

// wrap is fail for errors of the elector, which name the election already.
func (g *Gate) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("gate: %w", err)
}
