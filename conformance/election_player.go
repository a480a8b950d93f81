package conformance

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errBored is why a candidate of a case is told to stop.
var errBored = errors.New("the candidate has had enough")

// player is one candidate of a stage. Its function works until its context ends, looks all the time at what the elector says, and returns when hold is closed.
type player struct {
	candidate
	stage  *stage
	id     string
	client int
	wire   *wire

	again   bool          // a new Run follows each that has returned
	brief   time.Duration // how long it leads before it returns by itself; zero: until told
	hold    chan struct{}
	quit    chan error // what its function returns while it leads
	overran chan instant
	result  chan error

	stop   context.CancelCauseFunc
	done   chan struct{}
	leaves sync.Once
}

// start runs the elector in the background.
func (p *player) start() {
	ctx, cancel := context.WithCancelCause(p.stage.ctx)
	p.stop, p.done = cancel, make(chan struct{})
	go func() {
		defer close(p.done)
		for {
			err := p.Run(ctx, p.lead)
			select {
			case p.result <- err:
			default:
			}
			if !p.again || ctx.Err() != nil {
				return
			}
			pause(ctx, time.Millisecond)
		}
	}()
}

// leave ends whatever the candidate does.
func (p *player) leave() {
	p.leaves.Do(func() {
		p.wire.set(fair)
		p.letGo()
		if p.stop != nil {
			p.stop(errBored)
			<-p.done
		}
		if err := p.Close(); err != nil {
			p.stage.Errorf("close of the elector: %v", err)
		}
		p.wire.close()
	})
}

// keep makes the function go on after its context has ended, until letGo.
func (p *player) keep() { p.hold = make(chan struct{}) }

func (p *player) letGo() {
	select {
	case <-p.hold:
	default:
		close(p.hold)
	}
}

// lead is the leader's function.
func (p *player) lead(ctx context.Context, l leadership) error {
	s := p.stage
	r := s.begin(ctx, p, l)
	defer s.end(r)
	ticker := time.NewTicker(max(s.config.TTL/50, time.Millisecond))
	defer ticker.Stop()
	var over <-chan time.Time
	if p.brief > 0 {
		timer := time.NewTimer(p.brief)
		defer timer.Stop()
		over = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			r.noteEnd()
			return p.linger(ctx, r, ticker.C)
		case err := <-p.quit:
			return err
		case <-over:
			return nil
		case <-ticker.C:
			s.look(r)
		}
	}
}

// linger is the work that is left when the context has ended.
func (p *player) linger(ctx context.Context, r *reign, tick <-chan time.Time) error {
	for {
		select {
		case <-p.hold:
			return context.Cause(ctx)
		case <-tick:
			p.stage.look(r)
		}
	}
}
