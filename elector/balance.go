package elector

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/core"
)

// listedFor is how many TTLs an entry of a roster lives; it is written again after three.
const listedFor = 4

// share is what a group's candidate publishes.
type share struct {
	Terms int `json:"terms"`
	Most  int `json:"most,omitempty"`
}

// balancer keeps a group's candidate listed, and its part of the elections fair.
type balancer struct {
	group   *Group
	roster  backend.Roster
	listed  share
	written time.Time
	trust   map[string]*trust // in candidates that elections were handed over to
}

// trust is whether a candidate takes what is handed over to it. One that lists itself and doesn't lead, as it is cut off or broken, would else be offered elections for ever.
type trust struct {
	had      int // elections, when it was last given some; negative: that was judged
	since    time.Time
	refusals int // in a row
	until    time.Time
}

// longestDistrust bounds for how many TTLs a candidate that takes nothing is given nothing.
const longestDistrust = 64

// judge looks at what became of the last hand-over, and reports that the candidate is to be given no more for now.
func (t *trust) judge(terms int, ttl time.Duration) bool {
	switch {
	case t.had < 0:
	case terms > t.had:
		t.had, t.refusals = -1, 0
	case time.Since(t.since) < 2*ttl: // it may not have told yet
		return true
	default:
		t.had, t.until = -1, time.Now().Add(ttl*time.Duration(min(longestDistrust, 2<<min(t.refusals, 10))))
		t.refusals++
	}
	return time.Now().Before(t.until)
}

// keepBalance looks at the roster about once per TTL until ctx ends.
func (g *Group) keepBalance(ctx context.Context) {
	roster, _ := backend.As[backend.Roster](g.cfg.Store)
	b := &balancer{group: g, roster: roster, trust: map[string]*trust{}}
	defer b.leave()
	for ctx.Err() == nil {
		if err := b.look(ctx); err != nil && ctx.Err() == nil {
			g.loop.tell(Event{Kind: Failed, Time: time.Now(), Election: g.cfg.Name, Err: err})
		}
		sleep(ctx, g.cfg.TTL*3/4+rand.N(g.cfg.TTL/4))
	}
}

// look publishes how many elections this candidate leads, reads what the others do, and hands over what is above its share.
func (b *balancer) look(ctx context.Context) error {
	g := b.group
	ctx, cancel := context.WithTimeout(ctx, g.cfg.AttemptTimeout)
	defer cancel()
	terms := g.terms()
	now := share{Terms: len(terms), Most: g.cfg.MaxTerms}
	if now != b.listed || time.Since(b.written) >= (listedFor-1)*g.cfg.TTL {
		if err := b.publish(ctx, now); err != nil {
			return err
		}
	}
	entries, err := b.roster.Candidates(ctx, g.cfg.Name)
	if err != nil {
		return err
	}
	loads, total := b.loads(entries, len(g.Elections()))
	loads = append(loads, core.Load{ID: g.cfg.Candidate.ID, Terms: now.Terms, Most: now.Most})
	target, to := core.Moves(loads, total, g.cfg.Candidate.ID)
	g.loop.bound(g.cfg.MaxTerms, max(1, target))
	for i, successor := range to {
		if err := terms[i].HandOver(ctx, backend.Handover{To: successor}); err != nil {
			return err
		}
		b.given(successor, loads)
	}
	return nil
}

// loads is what the others that may be given elections lead, and how many there are for them and for this candidate.
func (b *balancer) loads(entries []backend.Entry, total int) (loads []core.Load, shared int) {
	for _, e := range entries {
		var s share
		if e.Candidate.ID == b.group.cfg.Candidate.ID || json.Unmarshal([]byte(e.Note), &s) != nil {
			continue
		}
		if t := b.trust[e.Candidate.ID]; t != nil && t.judge(s.Terms, b.group.cfg.TTL) {
			total -= s.Terms // it keeps those
			continue
		}
		loads = append(loads, core.Load{ID: e.Candidate.ID, Terms: s.Terms, Most: s.Most})
	}
	return loads, max(0, total)
}

// given notes that a candidate was given an election.
func (b *balancer) given(successor string, loads []core.Load) {
	t := b.trust[successor]
	if t == nil {
		t = &trust{had: -1}
		b.trust[successor] = t
	}
	for _, l := range loads {
		if l.ID == successor && t.had < 0 {
			t.had, t.since = l.Terms, time.Now()
		}
	}
}

func (b *balancer) publish(ctx context.Context, s share) error {
	note, err := json.Marshal(s)
	if err != nil {
		return err
	}
	g := b.group
	e := backend.Entry{Election: g.cfg.Name, Candidate: g.cfg.Candidate, Note: string(note), TTL: listedFor * g.cfg.TTL}
	if err := b.roster.Enlist(ctx, e); err != nil {
		return err
	}
	b.listed, b.written = s, time.Now()
	return nil
}

// leave takes this candidate off the list, so that the others share out its elections soon.
func (b *balancer) leave() {
	g := b.group
	ctx, cancel := context.WithTimeout(context.Background(), g.cfg.AttemptTimeout)
	defer cancel()
	if err := b.roster.Delist(ctx, g.cfg.Name, g.cfg.Candidate.ID); err != nil {
		g.loop.tell(Event{Kind: Failed, Time: time.Now(), Election: g.cfg.Name, Err: err})
	}
}

// terms returns the terms under which new work may be begun, in no order.
func (g *Group) terms() []*Term {
	g.mu.Lock()
	defer g.mu.Unlock()
	var terms []*Term
	for _, s := range g.seats {
		if s.term != nil && s.term.leading() {
			terms = append(terms, s.term)
		}
	}
	return terms
}
