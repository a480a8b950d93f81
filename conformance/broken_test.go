package conformance

import (
	"context"
	"errors"
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
	stuck     bool
	shelf     shelf
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
	call     func(open bool) // in place of ch
}

type brokenClient struct{ *breakable }

func newBreakable(bug string) *breakable {
	return &breakable{bug: bug, elections: make(map[string]*lot), watches: make(map[*watching]bool)}
}

func (b *breakable) has(bug string) bool { return b.bug == bug }

func (b *breakable) client() backend.LeaseStore { return &brokenClient{b} }

func (b *breakable) Limits() backend.Limits {
	return backend.Limits{Store: "breakable", MinTTL: time.Millisecond, MaxTTL: 365 * 24 * time.Hour, Granularity: 1, WakeUp: backend.Pushed, Durability: backend.Quorum}
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
	if b.has("get shows the holder after its end") && !e.live(now) {
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

func (c *brokenClient) Acquire(ctx context.Context, claim backend.Claim) (backend.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.travel(ctx); err != nil {
		return backend.Lease{}, err
	}
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
		<-time.After(time.Microsecond)
		c.mu.Lock()
	}
	token, err := c.draw(e, claim, now)
	if err != nil {
		return backend.Lease{}, err
	}
	*e = lot{
		counter: token, holder: claim.Candidate, token: token, attempt: claim.Attempt, ttl: claim.TTL,
		granted: now, expires: c.end(now, claim.TTL), version: 1, client: c, shown: e.shown, reserved: e.reserved, until: e.until,
	}
	if !c.has("a used reservation goes on") {
		e.until = time.Time{}
	}
	c.wake(claim.Election)
	return e.lease(claim.Election), nil
}

func (e *lot) lease(election string) backend.Lease {
	return backend.Lease{Election: election, Holder: e.holder.ID, Token: e.token, Attempt: e.attempt, TTL: e.ttl}
}

func (c *brokenClient) Renew(_ context.Context, l backend.Lease) (backend.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.lot(l.Election), time.Now()
	alive := e.live(now) || c.has("renew revives an expired lease") && e.holder.ID != ""
	if !c.renews(e, l) || !alive {
		if c.has("a lost lease is an unknown error") {
			return backend.Lease{}, errors.New("no rows were changed")
		}
		return backend.Lease{}, backend.ErrNotHeld
	}
	e.renewals++
	fresh := e.expires.Sub(now) >= e.ttl/3
	if !c.has("renew does not extend the lease") && (!c.has("a renewal of a fresh lease is skipped") || !fresh) {
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
	if c.has("a release delists") {
		delete(c.shelf.lists[l.Election], l.Holder)
	}
	c.wake(l.Election)
	return nil
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
	case "raise ends the held lease":
		e.expires = time.Now()
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
