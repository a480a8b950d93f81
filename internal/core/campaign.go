package core

import (
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// campaign is the search for a lease.
type campaign struct {
	attempt  backend.Attempt
	asked    bool // an Acquire with attempt may have been applied
	unsure   bool // so may an earlier one, whose reply was lost
	seen     backend.Seen
	request  uint64 // in flight: Get or Acquire
	flight   backend.Attempt
	next     int64 // when to look
	woken    bool  // a change was reported since the last request was sent
	called   bool  // the last look was for such a report
	futile   int   // looks in a row that came early and found nothing new
	trouble  error // the last failure, until an answer or a new campaign
	watchBy  int64 // look by then, even if the watch isn't open
	failures int

	kept      bool // it would claim if it had a permit
	keptSince int64

	watched   sign // what a single try has seen first, see worthWatching
	watchedBy int64
}

func (m *Machine) onWant(mode Mode, caller uint64) {
	switch {
	case m.closed:
		m.do(Action{Kind: DoFinish, Caller: caller, Err: ErrClosed})
	case m.mode != None:
		m.do(Action{Kind: DoFinish, Caller: caller, Err: ErrBusy})
	default:
		m.mode, m.caller, m.refused, m.crashes = mode, caller, 0, 0
		m.campaign.trouble = nil
		m.startCampaign(0)
	}
}

// freshAttempt draws an attempt of which nobody knows. What the store knows has to be read again.
func (m *Machine) freshAttempt() {
	c := m.campaign
	c.attempt, c.asked, c.unsure, c.seen = m.drawAttempt(), false, false, backend.Seen{}
}

// startCampaign begins a search with a fresh attempt, after a wait.
func (m *Machine) startCampaign(wait time.Duration) {
	if m.campaign == &m.noCampaign {
		m.campaign = new(campaign)
	}
	c := m.campaign
	c.next = m.in(wait)
	if wait > 0 {
		m.setState(Quarantined)
		return
	}
	m.freshAttempt()
	c.woken, c.called, c.kept, c.failures, c.futile = false, false, false, 0, 0
	c.watched = sign{}
	c.watchBy = m.now.Mono + int64(m.cfg.AttemptTimeout)
	m.setState(Campaigning)
	m.notify(Notice{Kind: NoteCampaigning})
}

func (m *Machine) onUnwant(err error) {
	switch m.state {
	case Following:
	case Campaigning, Quarantined:
		m.finish(m.because(err))
	case Sealing:
		m.term.stop = err
		m.leaveSealing(fmt.Errorf("%w: %w", ErrResigned, err), 0)
	case Leading:
		m.term.stop = err
		m.stepDown(fmt.Errorf("%w: %w", ErrResigned, err))
	case Draining, Lost, Overrun, Releasing:
		m.term.stop = err
	}
}

// because adds to the reason for which a campaign was given up what kept it from leading.
func (m *Machine) because(err error) error {
	if m.campaign.trouble == nil {
		return err
	}
	return fmt.Errorf("%w (last failure: %v)", err, m.campaign.trouble) //nolint:errorlint // a time-out of a request must not be taken for the caller's
}

// finish ends the caller's wait, and whatever the campaign may have left at the store is cleaned up behind it.
func (m *Machine) finish(err error) {
	c := m.campaign
	if c.asked && c.request == 0 {
		m.orphan(backend.Lease{Attempt: c.attempt})
	}
	c.asked = false
	c.attempt = backend.Attempt{}
	m.closeWatch()
	m.do(Action{Kind: DoFinish, Caller: m.caller, Err: err})
	m.mode, m.caller = None, 0
	m.setState(Following)
}

// advanceCampaign looks when it is time: watch first, then read, then claim, so that no release is missed and no claim is made blindly.
func (m *Machine) advanceCampaign() {
	c := m.campaign
	if m.mode != Try {
		m.advanceWatch()
		if m.watch.state == watchOpening && m.now.Mono < c.watchBy {
			return
		}
	}
	if m.now.Mono < m.barred && m.mode == Try {
		m.finish(ErrRecordLost)
		return
	}
	if c.request != 0 || m.now.Mono < max(c.next, m.barred) {
		return
	}
	c.called, c.woken = c.woken, false
	if c.called {
		c.futile++
	}
	c.flight = c.attempt
	if !c.seen.Known {
		c.request = m.request(Action{Kind: DoGet}, m.cfg.AttemptTimeout)
		return
	}
	if !m.mayClaim() {
		if c.called { // it may be another's by now
			c.request = m.request(Action{Kind: DoGet}, m.cfg.AttemptTimeout)
		}
		return
	}
	c.asked = true
	c.request = m.request(Action{Kind: DoAcquire, Claim: backend.Claim{
		Election: m.election, Candidate: m.cfg.Candidate, TTL: m.cfg.TTL,
		Attempt: c.attempt, Abandoned: m.abandoned(), Seen: c.seen, Floor: m.floor,
	}}, m.cfg.AttemptTimeout)
}

func (m *Machine) onRecord(e Event) {
	c := m.campaign
	if e.Request != c.request {
		return
	}
	c.request = 0
	if m.state != Campaigning || c.flight != c.attempt { // a look of an earlier campaign: what it saw may be over
		return
	}
	if e.Err != nil {
		m.campaignFailed(e.Err)
		return
	}
	m.see(e.Record)
	c.seen = backend.SeenAt(e.Record.Counter)
	if m.recordLost(e.Record) && !m.lostOwn() {
		m.waitOutLost()
		return
	}
	if e.Record.Wait(m.cfg.Candidate.ID) > 0 && !m.own(e.Record) {
		c.failures = 0
		m.waitFor(e.Record)
		return
	}
	c.next = m.now.Mono
}

// recordLost reports that the store has forgotten what it knew: its counter never falls otherwise.
func (m *Machine) recordLost(r backend.Record) bool {
	lost := r.Counter < m.counter
	m.counter = r.Counter
	return lost
}

// lostOwn reports that the record which was lost was this machine's own: nobody else can have been granted the election before the loss.
func (m *Machine) lostOwn() bool {
	return m.lastHard > 0 && clock.Elapsed(m.lastAnchor, m.now) < m.lastHard
}

// waitOutLost stays away from an election whose record was lost, in later campaigns too: its holder may have renewed just before that, doesn't know yet, and believes for
// one TTL at most.
func (m *Machine) waitOutLost() {
	m.notify(Notice{Kind: NoteFailed, Err: ErrRecordLost})
	m.campaign.failures = 0
	m.barred = m.in(max(m.leader.ttl, m.cfg.TTL) + Lag(m.cfg.TTL))
}

// own reports a record that this machine's own attempts made, so that an Acquire will get past it.
func (m *Machine) own(r backend.Record) bool {
	if r.Holder.ID != m.cfg.Candidate.ID {
		return false
	}
	if r.Attempt == m.campaign.attempt {
		return true
	}
	for _, o := range m.orphans {
		if o.lease.Attempt == r.Attempt {
			return true
		}
	}
	return false
}

func (m *Machine) onAcquired(e Event) {
	c := m.campaign
	if e.Request != c.request {
		return
	}
	c.request = 0
	if c.flight != c.attempt || m.state != Campaigning {
		m.settleStray(e)
		return
	}
	if e.Err == nil {
		m.granted(e)
		return
	}
	if held, ok := errors.AsType[*backend.HeldError](e.Err); ok {
		c.asked, c.failures = false, 0
		if held.Record.Token > m.leader.token {
			m.raced(false)
		}
		m.see(held.Record)
		m.counter = held.Record.Counter
		m.spend(held.Record.Counter)
		c.seen = backend.SeenAt(held.Record.Counter)
		m.waitFor(held.Record)
		return
	}
	m.campaignFailed(e.Err)
}

// spend draws another attempt if the present one may have been granted without our knowing and its lease have ended since: the counter has moved. Copies of its claims that
// are still under way are refused by what they have seen.
func (m *Machine) spend(counter int64) {
	if c := m.campaign; c.unsure && counter != c.seen.Counter {
		m.freshAttempt()
	}
}

// settleStray deals with the reply to a claim of a campaign that has ended meanwhile.
func (m *Machine) settleStray(e Event) {
	switch backend.ClassOf(e.Err) {
	case backend.OK:
		m.orphan(e.Lease)
	case backend.Unknown, backend.Denied:
		m.orphan(backend.Lease{Attempt: m.campaign.flight})
	default: // nothing was changed
	}
}

// campaignFailed decides how to go on after an error that is not "held".
func (m *Machine) campaignFailed(err error) {
	c := m.campaign
	switch backend.ClassOf(err) {
	case backend.Outdated:
		c.asked = false
		if c.unsure {
			m.freshAttempt()
		}
		c.seen = backend.Seen{}
		c.next = m.now.Mono
		if c.failures > 0 { // not by a rival that was faster: reads are behind
			c.next += int64(m.backoff(c.failures, m.cfg.TTL/2))
		}
		c.failures++
		return
	case backend.NotHeld: // the attempt is spent
		m.freshAttempt()
	case backend.Invalid, backend.Moved, backend.Closed:
		c.asked = false
		m.finish(err)
		return
	default:
		c.unsure = c.unsure || c.asked
	}
	c.trouble = err
	m.notify(Notice{Kind: NoteFailed, Err: err})
	if m.mode == Try {
		m.finish(err)
		return
	}
	c.next = m.now.Mono + int64(m.backoff(c.failures, m.cfg.TTL/2))
	c.failures++
}

// waitFor sleeps until the record's holder should be gone, or a wake-up.
func (m *Machine) waitFor(r backend.Record) {
	c := m.campaign
	c.trouble, c.kept = nil, false
	if m.mode == Try && !m.worthWatching(r) {
		m.finish(&backend.HeldError{Record: r})
		return
	}
	ttl := r.TTL
	if ttl <= 0 {
		ttl = m.cfg.TTL
	}
	wait := r.Wait(m.cfg.Candidate.ID)
	switch {
	case m.mode == Try:
		c.next = m.in(min(wait, ttl/2) + Lag(ttl))
	case c.woken: // the reply may be older than the change that was reported
		c.next = m.in(m.early())
	case wait <= 0: // it should be gone, but the store has not let go of it yet
		c.futile++
		c.next = m.in(Lag(ttl) + m.early())
	default:
		if !c.called {
			c.futile = 0
		}
		c.next = m.in(min(wait, ttl, time.Duration(never/2)) + Lag(ttl))
	}
}

// worthWatching reports whether a single try goes on although the election is held. A lease that ends only for a challenger who has watched it would otherwise stay for ever
// where all challengers are short-lived: it is watched until it shows a sign of life, or for its TTL.
func (m *Machine) worthWatching(r backend.Record) bool {
	c := m.campaign
	if !r.Held() || r.Mode != backend.Observed && r.Mode != backend.Beat {
		return false
	}
	if c.watched.token == 0 {
		c.watched = sign{r.Token, r.Renewals}
		c.watchedBy = m.in(r.TTL + r.TTL/2)
		return true
	}
	return sign{r.Token, r.Renewals} == c.watched && m.now.Mono < c.watchedBy
}

// sign is a holder's sign of life.
type sign struct{ token, renewals int64 }

// early is the wait before a look that doesn't await the holder's time. Wake-ups are spread over the followers; where they keep coming and tell nothing, they
// are believed less and less, so that no watch can make a follower flood the store.
func (m *Machine) early() time.Duration {
	if n := m.campaign.futile; n >= Patience {
		return m.backoff(n-Patience, m.cfg.TTL/2)
	}
	return m.spread()
}

// Lag is how long after the end of a lease a follower looks: a look that comes too early, by a difference of clock rates, would have to be repeated. It also
// lets the look come after a healthy holder's renewal rather than just before it, so that an idle follower looks about once per TTL.
func Lag(ttl time.Duration) time.Duration {
	return min(max(ttl/200, 5*time.Millisecond), 100*time.Millisecond)
}

// see takes note of who leads and of the highest token.
func (m *Machine) see(r backend.Record) {
	if r.Holder.ID != "" {
		m.leader.ttl = r.TTL
	}
	if r.Attempt != m.campaign.attempt { // the counter of an own unconfirmed grant is no floor for it
		m.floor = max(m.floor, r.Counter)
	}
	if !r.Held() {
		r.Token = max(r.Token, r.Counter) // a record that was removed keeps its counter alone
	}
	if r.Token < m.leader.token || r.Token == m.leader.token && r.Holder.ID == m.leader.id {
		return
	}
	m.leader = leader{id: r.Holder.ID, token: r.Token, ttl: r.TTL}
	m.campaign.futile = 0
	m.notify(Notice{Kind: NoteLeader, Token: r.Token, Holder: r.Holder})
}

func (m *Machine) granted(e Event) {
	c := m.campaign
	l := e.Lease
	if l.Election != m.election || l.Holder != m.cfg.Candidate.ID || l.Attempt != c.attempt ||
		l.Token <= 0 || l.Token > backend.MaxToken || l.AnchorAge < 0 {
		m.campaignFailed(fmt.Errorf("elector: the store answered with a lease that was not asked for: token %d of %q", l.Token, l.Holder))
		return
	}
	c.asked = false
	anchor := e.Sent.Earlier(l.AnchorAge)
	soft, hard := m.cfg.Margins.Deadlines(min(m.cfg.TTL, l.TTL))
	var unusable error
	switch {
	case l.Token <= m.floor:
		unusable = fmt.Errorf("%w: %d after %d", ErrTokenOrder, l.Token, m.floor)
	case clock.Elapsed(anchor, m.now) >= soft:
		unusable = fmt.Errorf("%w: the grant came too late to be used", ErrDeadline)
	}
	if unusable != nil {
		m.orphan(l)
		m.freshAttempt()
		m.campaignFailed(unusable)
		return
	}
	c.failures = 0
	m.raced(true)
	m.floor = l.Token
	m.counter = l.Token
	m.leader = leader{id: m.cfg.Candidate.ID, token: l.Token, ttl: l.TTL}
	m.closeWatch()
	m.terms++
	m.lastAnchor, m.lastHard = anchor, hard
	m.term = &term{
		id: m.terms, lease: l, anchor: anchor, soft: soft, hard: hard,
		renewAt: anchor.Mono + int64(m.cfg.RenewInterval),
	}
	m.startSealing()
}

func (m *Machine) dueCampaign() int64 {
	c := m.campaign
	switch m.state {
	case Quarantined:
		return c.next
	case Campaigning:
	default:
		return never
	}
	due := never
	if c.request == 0 {
		due = max(c.next, m.barred)
		if m.watch.state == watchOpening && m.mode != Try {
			due = max(due, c.watchBy)
		}
	}
	if m.mode != Try {
		due = min(due, m.dueWatch())
	}
	return due
}
