package elector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// Group takes part in many elections on behalf of one candidate, as an [Elector] does in one. All share one goroutine that keeps time, renew their leases together and have few requests under way at a time; each
// has terms, tokens and losses of its own. Make one with NewGroup; it is safe for concurrent use.
type Group struct {
	cfg  GroupConfig
	loop *loop

	mu     sync.Mutex
	seats  map[string]*seat
	run    *groupRun // nil while none is under way
	runs   uint64
	closed bool
}

// seat is a group's part in one election.
type seat struct {
	group  *Group
	member member
	waiter waiter
	run    *groupRun     // whose campaign it is in; nil: none
	over   chan struct{} // closed when the campaign has ended; nil while nobody waits for that
	term   *Term
}

// groupRun is one call of Run.
type groupRun struct {
	ctx     context.Context //nolint:containedctx // of the call
	cancel  context.CancelCauseFunc
	lead    func(context.Context, *Term) error
	number  uint64
	seats   sync.WaitGroup // campaigns and the work of their terms
	balance sync.WaitGroup
}

var (
	errLeft    = errors.New("elector: the group leaves this election")
	errUnknown = fmt.Errorf("%w: the group takes no part in this election", backend.ErrInvalid)
)

// NewGroup returns a group. It returns an error that wraps backend.ErrInvalid and lists every problem when the configuration is not valid. It does not contact the store.
func NewGroup(cfg GroupConfig) (*Group, error) { return newGroup(cfg, clock.New()) }

func newGroup(cfg GroupConfig, source *clock.Source) (*Group, error) {
	if cfg.Store != nil {
		cfg.Store = backend.Wrap(cfg.Store)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	elections := cfg.Elections
	cfg = cfg.withDefaults()
	cfg.warn()
	g := &Group{cfg: cfg, loop: newLoop(cfg.Config, source), seats: map[string]*seat{}}
	g.loop.shared.Bound(cfg.MaxTerms, 0)
	return g, g.Add(elections...)
}

// Config returns the configuration with all defaults filled in.
func (g *Group) Config() GroupConfig { return g.cfg }

// Add takes part in more elections, from now on if Run is under way. Those that the group takes part in already stay as they are. It returns an error that wraps backend.ErrInvalid, and adds none, when a name is
// not valid.
func (g *Group) Add(elections ...string) error {
	for _, name := range elections {
		if err := backend.CheckName("election", name); err != nil {
			return fmt.Errorf("elector: group: %w", err)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	for _, name := range elections {
		if g.seats[name] != nil {
			continue
		}
		s := &seat{group: g}
		s.member.init(g.loop, name)
		s.waiter.caller, s.waiter.run = s, true
		g.seats[name] = s
		if g.run != nil {
			s.campaign(g.run)
		}
	}
	return nil
}

// Remove leaves an election: a term is resigned, its work awaited, its lease released. It returns when that is done, or ctx's cause when ctx ends first, and an error that wraps backend.ErrInvalid when the group takes
// no part in it.
func (g *Group) Remove(ctx context.Context, election string) error {
	g.mu.Lock()
	s := g.seats[election]
	delete(g.seats, election)
	var over <-chan struct{}
	if s != nil && s.run != nil {
		over = s.leave(errLeft)
	}
	g.mu.Unlock()
	switch {
	case s == nil:
		return fmt.Errorf("elector: %q: %w", election, errUnknown)
	case over == nil:
		return nil
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Elections returns the names of the elections that the group takes part in, ordered.
func (g *Group) Elections() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	names := make([]string, 0, len(g.seats))
	for name := range g.seats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Term returns the term under which this candidate leads an election at present, and nil when it doesn't lead it. It compares clocks, as [Elector.Leading] does.
func (g *Group) Term(election string) *Term {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.seats[election]
	if s == nil || s.term == nil || !s.term.leading() {
		return nil
	}
	return s.term
}

// Leading reports whether this candidate leads an election and may begin new work, as [Elector.Leading] does.
func (g *Group) Leading(election string) bool { return g.Term(election) != nil }

// Run campaigns in all elections of the group until ctx ends, and calls lead on a goroutine of its own for each term. When ctx ends, all terms are resigned as [Elector.Run] says; Run returns ctx's cause when all work has
// returned and the leases are released or given up.
//
// What happens in one election harms none of the others. When lead returns nil while leading, the group leaves that election for good: its work is done. When lead returns an error, the lease is released, others may go
// first, and after a growing wait the group campaigns again. A lost or resigned term is followed by another campaign, whatever lead returned.
//
// With a nil lead, terms are held until they end, for callers who ask [Group.Term].
//
// It returns ErrBusy when a Run is under way and ErrClosed after Close. Elections that can't ever be granted (ErrMoved, ErrVersion) are left: Config.Events is told Left, with the reason.
func (g *Group) Run(ctx context.Context, lead func(context.Context, *Term) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r, err := g.begin(ctx, lead)
	if err != nil {
		return err
	}
	<-r.ctx.Done()
	g.end(r)
	if errors.Is(context.Cause(r.ctx), ErrClosed) {
		return ErrClosed
	}
	return context.Cause(ctx)
}
