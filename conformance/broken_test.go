package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// breakable is a small store of its own that keeps the contract, unless it has a bug: see mutants.
type breakable struct {
	bug string

	mu        sync.Mutex
	elections map[string]*lot
	watches   map[*watching]bool
	changes   int
	closed    bool
}

// lot is the record of one election.
type lot struct {
	counter  int64
	holder   backend.Candidate
	token    int64
	attempt  backend.Attempt
	ttl      time.Duration
	granted  time.Time
	expires  time.Time
	renewals int64
	released bool
	reserved string
	until    time.Time
	moved    string
	version  int
	client   *brokenClient
	shown    backend.Record // what Get told last, for a store with a cache
}

type watching struct {
	election string
	client   *brokenClient
	ch       chan struct{}
}

type brokenClient struct{ *breakable }

func newBreakable(bug string) *breakable {
	return &breakable{bug: bug, elections: make(map[string]*lot), watches: make(map[*watching]bool)}
}

func (b *breakable) has(bug string) bool { return b.bug == bug }

func (b *breakable) client() backend.LeaseStore { return &brokenClient{b} }

func (b *breakable) Limits() backend.Limits {
	return backend.Limits{Store: "breakable", MinTTL: time.Millisecond, MaxTTL: 365 * 24 * time.Hour, Granularity: 1, WakeUp: backend.Pushed}
}

func (b *breakable) lot(election string) *lot {
	key := b.key(election)
	if b.elections[key] == nil {
		b.elections[key] = new(lot)
	}
	e := b.elections[key]
	if b.has("the counter dies with the lease") && e.holder.ID != "" && !e.live(time.Now()) {
		e.counter = 0
	}
	return e
}

func (e *lot) live(now time.Time) bool { return e.holder.ID != "" && e.expires.After(now) }

func (b *breakable) end(now time.Time, ttl time.Duration) time.Time {
	switch b.bug {
	case "leases end at 80 % of their TTL":
		ttl = ttl * 8 / 10
	case "the TTL is dropped":
		ttl = 30 * time.Second
	case "leases linger for another TTL and 15 s":
		ttl = 2*ttl + 15*time.Second
	}
	return now.Add(ttl)
}

func (b *breakable) record(election string, e *lot, now time.Time) backend.Record {
	r := backend.Record{Election: election, Token: e.token, Counter: e.counter, Attempt: e.attempt, TTL: e.ttl, MovedTo: e.moved, Version: e.version}
	switch {
	case e.live(now):
		r.Holder, r.Remaining, r.Age, r.Renewals = e.holder, e.expires.Sub(now), now.Sub(e.granted), e.renewals
		if b.has("get forgets the description") {
			r.Holder.Description = backend.Description{}
		}
		if b.has("get tells the whole TTL as remaining") {
			r.Remaining = e.ttl
		}
	case e.until.After(now):
		r.Reserved = backend.Reservation{To: e.reserved, For: e.until.Sub(now)}
	}
	if b.has("get forgets the last term of a free election") && !e.live(now) {
		r.Token, r.Attempt = 0, backend.Attempt{}
	}
	if b.has("get forgets the record's holder after its end but not its name") && !e.live(now) {
		r.Holder = e.holder
	}
	return r
}

func (b *breakable) held(election string, e *lot, now time.Time) error {
	if b.has("held comes without the record") {
		return backend.ErrHeld
	}
	return &backend.HeldError{Record: b.record(election, e, now)}
}

func (c *brokenClient) Acquire(_ context.Context, claim backend.Claim) (backend.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.lot(claim.Election), time.Now()
	if c.has("leases of 10 ms steps are cut and not reported") {
		claim.TTL -= claim.TTL % (10 * time.Millisecond)
	}
	again, err := c.judge(e, claim, now)
	if again && !c.has("a repeat draws a new token") {
		if !c.has("a repeat does not extend the lease") {
			e.expires, e.ttl = c.end(now, claim.TTL), claim.TTL
		}
		return e.lease(claim.Election), nil
	}
	if err != nil {
		return backend.Lease{}, err
	}
	if c.has("acquire looks first and writes later") {
		c.mu.Unlock()
		time.Sleep(time.Microsecond)
		c.mu.Lock()
	}
	token, err := c.draw(e, claim, now)
	if err != nil {
		return backend.Lease{}, err
	}
	*e = lot{
		counter: token, holder: claim.Candidate, token: token, attempt: claim.Attempt, ttl: claim.TTL,
		granted: now, expires: c.end(now, claim.TTL), version: 1, client: c, shown: e.shown,
	}
	c.wake(claim.Election)
	return e.lease(claim.Election), nil
}

// judge says whether the claim is a repeat of the live lease's, or why it can't be granted anew.
func (c *brokenClient) judge(e *lot, claim backend.Claim, now time.Time) (again bool, err error) {
	if err := c.readable(e); err != nil {
		return false, err
	}
	own := e.holder.ID == claim.Candidate.ID
	if c.has("the challenger's TTL counts") && !own && now.Sub(e.granted) > claim.TTL {
		e.expires = now
	}
	switch {
	case e.live(now) && e.attempt == claim.Attempt && own:
		return true, nil
	case e.live(now) && own && c.has("the holder's other attempts are repeats"):
		return true, nil
	case e.live(now):
		if !c.abandoned(e, claim, own) {
			return false, c.held(claim.Election, e, now)
		}
		if c.has("an outdated claim ends the abandoned lease") {
			e.expires = now
		}
	case e.attempt == claim.Attempt && !c.spentIsFine(e):
		return false, backend.ErrNotHeld
	case e.until.After(now) && e.reserved != claim.Candidate.ID && !c.has("reservations are ignored"):
		return false, c.held(claim.Election, e, now)
	}
	if claim.Seen.Known && claim.Seen.Counter != e.counter && !c.has("Seen is ignored") {
		return false, backend.ErrOutdated
	}
	return false, nil
}

func (b *breakable) readable(e *lot) error {
	if e.version > backend.Version && !b.has("the record's format is ignored") {
		return backend.ErrVersion
	}
	if e.moved != "" && !b.has("a move is ignored") {
		return fmt.Errorf("%w to %s", backend.ErrMoved, e.moved)
	}
	return nil
}

func (b *breakable) abandoned(e *lot, claim backend.Claim, own bool) bool {
	switch b.bug {
	case "Abandoned is ignored":
		return false
	case "anybody's attempt can be abandoned":
		own = true
	case "any Abandoned ends any attempt of the candidate":
		return own && len(claim.Abandoned) > 0
	}
	return own && slices.Contains(claim.Abandoned, e.attempt)
}

func (b *breakable) spentIsFine(e *lot) bool {
	return b.has("a released attempt is granted again") && e.released || b.has("an expired attempt is granted again") && !e.released
}

func (b *breakable) draw(e *lot, claim backend.Claim, now time.Time) (int64, error) {
	if b.has("the floor is ignored") {
		claim.Floor = 0
	}
	if !backend.FloorInRange(claim.Floor, e.counter, now) && !b.has("absurd floors are accepted") {
		return 0, backend.ErrInvalid
	}
	token, ok := backend.NextToken(e.counter, claim.Floor, 0)
	if b.has("tokens keep 14 digits") {
		short, _ := strconv.ParseFloat(strconv.FormatFloat(float64(token), 'g', 14, 64), 64)
		token, ok = int64(short), true
	}
	if !ok {
		return 0, backend.ErrInvalid
	}
	return token, nil
}

func (e *lot) lease(election string) backend.Lease {
	return backend.Lease{Election: election, Holder: e.holder.ID, Token: e.token, Attempt: e.attempt, TTL: e.ttl}
}

func (c *brokenClient) Renew(_ context.Context, l backend.Lease) (backend.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.lot(l.Election), time.Now()
	same := (e.holder.ID == l.Holder || c.has("renew ignores the holder")) &&
		(e.token == l.Token || c.has("renew ignores the token")) &&
		(e.attempt == l.Attempt || c.has("renew ignores the attempt"))
	alive := e.live(now) || c.has("renew revives an expired lease") && e.holder.ID != ""
	if !same || !alive {
		if c.has("a lost lease is an unknown error") {
			return backend.Lease{}, errors.New("no rows were changed")
		}
		return backend.Lease{}, backend.ErrNotHeld
	}
	e.renewals++
	fresh := e.expires.Sub(now) >= e.ttl/3
	if !c.has("renew does not extend the lease") && !(c.has("a renewal of a fresh lease is skipped") && fresh) {
		if c.has("a renewal keeps the first TTL") {
			l.TTL = e.ttl
		}
		e.expires, e.ttl = c.end(now, l.TTL), l.TTL
	}
	return e.lease(l.Election), nil
}

func (c *brokenClient) Release(_ context.Context, l backend.Lease, h backend.Handover) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.lot(l.Election), time.Now()
	if err := c.mine(e, l); err != nil {
		return err
	}
	if e.released {
		if c.has("a second release is refused") {
			return backend.ErrNotHeld
		}
		return nil
	}
	if !e.live(now) || e.holder.ID != l.Holder {
		if h.For > 0 && c.has("an expired lease can reserve") {
			e.reserved, e.until = h.To, now.Add(h.For)
		}
		return backend.ErrNotHeld
	}
	c.free(e, h, now)
	c.wake(l.Election)
	return nil
}

func (b *breakable) mine(e *lot, l backend.Lease) error {
	switch {
	case b.has("release goes by the holder alone") && e.holder.ID == l.Holder:
		return nil
	case b.has("a release needs its token") && l.Token == 0:
		return backend.ErrInvalid
	case b.has("release ignores the token"):
		l.Token = 0
	}
	if e.attempt != l.Attempt || l.Token != 0 && e.token != l.Token {
		return backend.ErrNotHeld
	}
	return nil
}

// free ends the lease.
func (b *breakable) free(e *lot, h backend.Handover, now time.Time) {
	keep := min(h.For, e.ttl)
	switch b.bug {
	case "a reservation is not cut":
		keep = h.For
	case "a release is followed by a lock-delay":
		keep = cmp.Or(keep, 15*time.Second)
	case "the counter is reset by release":
		e.counter = 0
	case "a reservation makes its candidate holder":
		if h.To != "" {
			e.holder.ID, e.token, e.counter, e.expires = h.To, e.token+1, e.counter+1, now.Add(h.For)
			return
		}
	}
	e.holder, e.released = backend.Candidate{}, true
	if keep > 0 {
		e.reserved, e.until = h.To, now.Add(keep)
	}
}

func (c *brokenClient) Get(_ context.Context, election string) (backend.Record, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.lot(election)
	r := c.record(election, e, time.Now())
	if c.has("get answers from a cache") {
		r, e.shown = e.shown, r
		r.Election = election
	}
	return r, nil
}

func (c *brokenClient) Raise(_ context.Context, election string, token int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.lot(election)
	if !backend.FloorInRange(token, e.counter, time.Now()) && !c.has("absurd raises are accepted") {
		return backend.ErrInvalid
	}
	switch c.bug {
	case "raise sets the held lease's token":
		e.token = max(e.token, token)
	case "raise can lower the counter":
		e.counter = token
	case "raise of a held election is forgotten":
		if e.holder.ID != "" {
			return nil
		}
	}
	e.counter = max(e.counter, token)
	return nil
}
