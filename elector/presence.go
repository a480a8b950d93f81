package elector

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
	"github.com/tenure-go/tenure/internal/roster"
)

// presence keeps an elector's candidate listed while it campaigns or leads, and looks whether another should lead in its place. Its one goroutine is apart from the heartbeat: a roster that is slow or away, or a
// slow function of the user, delays this alone. A nil presence does nothing.
type presence struct {
	cfg    Config
	loop   *loop
	roster backend.Roster // nil: not listed

	mu     sync.Mutex
	users  int // campaigns and runs
	stop   context.CancelFunc
	gone   chan struct{} // closed when the goroutine has ended, or never was one
	term   *Term
	began  time.Time // of the term
	kept   bool      // no claims, as the loop was told
	able   bool
	memory roster.Memory
	away   aside

	// The rest is the goroutine's own.
	since   time.Time // first listed
	listed  roster.Standing
	written time.Time
	tried   time.Time
	looked  time.Time

	failures int // writes in a row
}

// aside is a candidate's standing aside after it was asked to step down.
type aside struct {
	asked   bool // its term hasn't ended yet
	length  time.Duration
	until   time.Time // no claims
	resting time.Time // no taking over
}

func newPresence(cfg Config, l *loop) *presence {
	if !cfg.listed() && cfg.Preference.CanLead == nil {
		return nil
	}
	gone := make(chan struct{})
	close(gone)
	p := &presence{cfg: cfg, loop: l, gone: gone, able: true}
	if cfg.listed() {
		p.roster, _ = backend.As[backend.Roster](cfg.Store)
	}
	// Who observes a term sees less of it than it lasted.
	p.memory = roster.Memory{Least: cfg.Preference.MinTenure - cfg.TTL/2, Cooldown: cfg.Preference.Cooldown}
	l.sense = p.hear
	return p
}

// hear is told each transition, on the loop's goroutine.
func (p *presence) hear(n core.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch n.Kind {
	case core.NoteLeader, core.NoteStarted:
		p.memory.Saw(n.Holder, now)
	case core.NoteStopped:
		if a := &p.away; a.asked { // only now others can lead
			*a = aside{until: now.Add(a.length), resting: now.Add(p.cfg.Preference.Cooldown)}
		}
	}
}

// visit is one campaign's or run's use of the presence.
type visit struct {
	presence *presence
	in, out  bool
}

// enter starts the goroutine if there is none. After leave it does nothing.
func (v *visit) enter() {
	p := v.presence
	if p == nil {
		return
	}
	p.admit()
	p.mu.Lock()
	defer p.mu.Unlock()
	if v.in || v.out {
		return
	}
	v.in = true
	if p.users++; p.users > 1 {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	earlier, gone := p.gone, make(chan struct{})
	p.stop, p.gone = stop, gone
	go func() {
		defer close(gone)
		<-earlier // it is leaving
		p.keep(ctx)
	}()
}

// leave ends the goroutine if this was the last use. It doesn't wait.
func (v *visit) leave() {
	p := v.presence
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if v.in && !v.out {
		if p.users--; p.users == 0 {
			p.stop()
		}
	}
	v.out = true
}

// left returns a channel that is closed when the goroutine has ended, unless others use it.
func (p *presence) left() <-chan struct{} {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.users == 0 {
			return p.gone
		}
	}
	done := make(chan struct{})
	close(done)
	return done
}

// lead notes the present term.
func (p *presence) lead(t *Term) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.term, p.began = t, time.Now()
}

// admit asks whether this candidate can lead, and tells the loop whether it may claim.
func (p *presence) admit() {
	if p == nil {
		return
	}
	able := true
	if f := p.cfg.Preference.CanLead; f != nil {
		able = f()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.able = able
	if kept := !able || p.away.asked || time.Now().Before(p.away.until); kept != p.kept {
		p.kept = kept
		most := 0
		if kept {
			most = -1
		}
		p.loop.bound(most, 0)
	}
}

// keep looks after everything until ctx ends.
func (p *presence) keep(ctx context.Context) {
	defer p.delist()
	pace := p.cfg.TTL / 4
	if p.cfg.Preference.CanLead != nil {
		pace = p.cfg.TTL / 10
	}
	for ctx.Err() == nil {
		p.admit()
		p.mu.Lock()
		term, began, able := p.term, p.began, p.able
		p.mu.Unlock()
		if term != nil && !able {
			term.yield("it can't lead any more", backend.Handover{})
		}
		if p.roster != nil {
			p.told(ctx, p.write(ctx))
			if term != nil && term.leading() && time.Since(p.looked) >= p.cfg.TTL {
				p.looked = time.Now()
				p.told(ctx, p.look(ctx, term, began))
			}
		}
		sleep(ctx, pace*3/4+rand.N(pace/4))
	}
}

// told tells of a failure.
func (p *presence) told(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		p.loop.tell(Event{Kind: Failed, Time: time.Now(), Election: p.cfg.Election, Err: err})
	}
}
