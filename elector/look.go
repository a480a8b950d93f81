package elector

import (
	"context"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/roster"
)

// write lists this candidate when that is due: once per three TTLs, and when something has changed, twice per TTL at most. After failures it waits longer: a store may never allow it.
func (p *presence) write(ctx context.Context) error {
	now := time.Now()
	if p.since.IsZero() {
		p.since = now
	}
	p.mu.Lock()
	mine := roster.Standing{Priority: p.cfg.Preference.Priority, Ready: p.able, Resting: p.away.asked || now.Before(p.away.resting), Since: p.since.UnixMilli()}
	p.mu.Unlock()
	changed := mine.Ready != p.listed.Ready || mine.Resting != p.listed.Resting
	if now.Sub(p.tried) < p.cfg.listingPace()/2<<min(p.failures, 2) || !changed && now.Sub(p.written) < (listedFor-1)*p.cfg.listingPace() {
		return nil
	}
	p.tried = now
	note, mine, fault := p.cfg.published(mine)
	ctx, cancel := context.WithTimeout(ctx, p.cfg.AttemptTimeout)
	defer cancel()
	if err := p.roster.Enlist(ctx, backend.Entry{Election: p.cfg.Election, Candidate: p.cfg.Candidate, Note: note, TTL: listedFor * p.cfg.listingPace()}); err != nil {
		p.failures++
		return err
	}
	p.listed, p.written, p.failures = mine, now, 0
	return fault
}

// delist takes this candidate off the list, so that nobody hands over to it.
func (p *presence) delist() {
	if p.roster == nil {
		return
	}
	p.written, p.tried, p.failures = time.Time{}, time.Time{}, 0
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.AttemptTimeout)
	defer cancel()
	p.told(ctx, p.roster.Delist(ctx, p.cfg.Election, p.cfg.Candidate.ID))
}

// look reads the roster on behalf of a leader, and obeys a request or makes room for a candidate that is preferred.
func (p *presence) look(ctx context.Context, term *Term, began time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.AttemptTimeout)
	defer cancel()
	entries, err := p.roster.Candidates(ctx, p.cfg.Election)
	if err != nil {
		return err
	}
	standings, requests := sortOut(entries)
	for _, r := range requests {
		if r.Token == term.Token().Value && r.Refused == "" {
			return p.answer(ctx, term, r, standings)
		}
	}
	if time.Since(began) >= p.cfg.Preference.MinTenure {
		p.prefer(term, standings)
	}
	return nil
}

// prefer hands over to the candidate with the highest score, if that is above this one's.
func (p *presence) prefer(term *Term, standings []Standing) {
	var own float64
	options := make([]roster.Option, 0, len(standings))
	byID := map[string]backend.Candidate{}
	scores := map[string]float64{}
	listed := false
	for _, s := range standings {
		id := s.Candidate.ID
		byID[id], scores[id] = s.Candidate, p.cfg.Preference.score(s)
		if id == p.cfg.Candidate.ID {
			own, listed = scores[id], true
		}
		p.mu.Lock()
		barred := p.memory.Barred(s.Candidate, time.Now())
		p.mu.Unlock()
		options = append(options, roster.Option{ID: id, Score: scores[id], Ready: s.Ready, Barred: barred || s.Resting})
	}
	if !listed {
		own = p.cfg.Preference.score(standingOf(p.cfg.Candidate, p.listed))
	}
	to, better := roster.Choose(p.cfg.Candidate.ID, own, options)
	if !better {
		return
	}
	why := fmt.Sprintf("to %q, which is preferred: its score is %v, this one's %v", to, scores[to], own)
	p.handOver(term, why, byID[to])
}

// handOver makes room for a candidate and remembers to see whether it comes.
func (p *presence) handOver(term *Term, why string, to backend.Candidate) bool {
	p.mu.Lock()
	p.memory.Reserved(&to)
	p.mu.Unlock()
	if term.yield(why, backend.Handover{To: to.ID, For: p.cfg.reservation()}) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory.Reserved(nil)
	return false
}

// answer obeys an operator's request, or refuses it. That its entry is gone says that it is obeyed; what it asks for is done even if that can't be said.
func (p *presence) answer(ctx context.Context, term *Term, r asked, standings []Standing) error {
	why := "asked by " + r.By
	if r.Reason != "" {
		why += ": " + r.Reason
	}
	if r.To == "" {
		p.standAside(max(p.cfg.TTL, time.Duration(r.Away)*time.Millisecond), func() bool { return term.yield(why, backend.Handover{}) })
		return p.roster.Delist(ctx, p.cfg.Election, r.id)
	}
	for _, s := range standings {
		if s.Candidate.ID == r.To && s.Ready && r.To != p.cfg.Candidate.ID {
			p.standAside(0, func() bool { return p.handOver(term, fmt.Sprintf("to %q, %s", r.To, why), s.Candidate) })
			return p.roster.Delist(ctx, p.cfg.Election, r.id)
		}
	}
	r.Refused = fmt.Sprintf("%q is not listed as ready to lead", r.To)
	note, err := roster.Note{Request: &r.Request}.Encode()
	if err != nil {
		return err
	}
	return p.roster.Enlist(ctx, backend.Entry{Election: p.cfg.Election, Candidate: backend.Candidate{ID: r.id}, Note: note, TTL: listedFor * p.cfg.listingPace()})
}

// standAside claims nothing until a time after the term's end, so that others go first, and doesn't take over for longer than that. yield ends the term, if it hasn't ended yet.
func (p *presence) standAside(length time.Duration, yield func() bool) {
	p.mu.Lock()
	before := p.away
	p.away = aside{asked: true, length: length} // first: the end of the term may be heard before yield returns
	p.mu.Unlock()
	p.admit() // before the next campaign can begin
	if yield() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = before
}
