package elector

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// listing is a store whose roster counts, and fails or hangs when it is told to.
type listing struct {
	backend.LeaseStore
	writes, looks atomic.Int32
	fails, hangs  atomic.Bool
	delisted      atomic.Int32
}

func (l *listing) lists() backend.Roster { return l.LeaseStore.(backend.Roster) }

func (l *listing) fault(ctx context.Context) error {
	if l.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if l.fails.Load() {
		return errInjected
	}
	return nil
}

func (l *listing) Enlist(ctx context.Context, e backend.Entry) error {
	l.writes.Add(1)
	if err := l.fault(ctx); err != nil {
		return err
	}
	return l.lists().Enlist(ctx, e)
}

func (l *listing) Delist(ctx context.Context, election, candidate string) error {
	if err := l.fault(ctx); err != nil {
		return err
	}
	pass(10 * time.Millisecond) // a round trip
	defer l.delisted.Add(1)
	return l.lists().Delist(ctx, election, candidate)
}

func (l *listing) Candidates(ctx context.Context, election string) ([]backend.Entry, error) {
	l.looks.Add(1)
	if err := l.fault(ctx); err != nil {
		return nil, err
	}
	return l.lists().Candidates(ctx, election)
}

// Nothing of a campaign, and of a term without a function, is left when Close returns: its candidate isn't listed any more.
func TestCloseLeavesNoEntry(t *testing.T) {
	bubble(t, func(t *testing.T, server *memory.Server) {
		for _, c := range []bool{false, true} {
			s := &listing{LeaseStore: server.Client()}
			e := newTest(t, preferred(s, "a", 0))
			campaign := e.Campaign
			if c {
				campaign = func(context.Context) (*Term, error) { return e.TryCampaign(t.Context()) }
			}
			term, err := campaign(t.Context())
			must(t, err)
			pass(ttl)
			must(t, term.Resign(t.Context()))
			must(t, e.Close())
			if s.writes.Load() == 0 || s.delisted.Load() != 1 {
				t.Errorf("listed %d times, delisted %d times when Close returns", s.writes.Load(), s.delisted.Load())
			}
		}
	})
}

// A roster that fails, or doesn't answer, costs no lease, no term and no time at the end but one request's.
func TestARosterThatIsAwayHarmsNobody(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		bubble(t, func(t *testing.T, server *memory.Server) {
			var ev events
			s := &listing{LeaseStore: server.Client()}
			s.fails.Store(true)
			s.hangs.Store(hangs)
			cfg := preferred(s, "a", 0)
			cfg.Events = ev.add
			a := start(t, cfg)
			term := <-a.terms
			pass(100 * ttl)
			if !a.Leading() || term.Context().Err() != nil || len(ev.kinds(Suspect, Lost, Stopped)) > 0 {
				t.Error("the term was harmed")
			}
			if n := len(ev.kinds(Failed)); n == 0 || n > 400 {
				t.Errorf("%d failures were told in 100 TTLs", n)
			}
			began := time.Now()
			_ = a.end()
			if took := time.Since(began); took > 2*cfg.withDefaults().AttemptTimeout {
				t.Errorf("the end took %v", took)
			}
			s.fails.Store(false)
			s.hangs.Store(false)
		})
	}
}
