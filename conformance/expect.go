package conformance

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// id is a candidate's ID that no other trial uses.
func (t *trial) id(name string) string { return name + "-" + t.suffix }

func (t *trial) attempt() backend.Attempt {
	t.mu.Lock()
	defer t.mu.Unlock()
	var a backend.Attempt
	for i := range a {
		a[i] = byte(t.rand.Uint32())
	}
	return a
}

// jitter is a random time below d.
func (t *trial) jitter(d time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Duration(t.rand.Int64N(int64(d)))
}

// claim is a new attempt of the named candidate, for a lease that outlives the case.
func (t *trial) claim(name string) backend.Claim {
	return backend.Claim{
		Election: t.election, TTL: t.long, Attempt: t.attempt(),
		Candidate: backend.Candidate{ID: t.id(name), Description: backend.Description{App: "conformance"}},
	}
}

// brief is a claim for a lease whose end the case waits for.
func (t *trial) brief(name string) backend.Claim {
	c := t.claim(name)
	c.TTL = t.ttl
	return c
}

// grant acquires where nothing stands in the way.
func (t *trial) grant(s backend.LeaseStore, c backend.Claim) backend.Lease {
	l, err := s.Acquire(t.ctx, c)
	if err != nil {
		t.Fatalf("acquire of a free election by %s: got %v, want a lease", c.Candidate.ID, err)
	}
	t.checkLease(l, c)
	return l
}

func (t *trial) checkLease(l backend.Lease, c backend.Claim) {
	if l.Election != c.Election || l.Holder != c.Candidate.ID || l.Attempt != c.Attempt {
		t.Errorf("the lease is of (%q, %q, %s), want (%q, %q, %s) as claimed", l.Election, l.Holder, l.Attempt, c.Election, c.Candidate.ID, c.Attempt)
	}
	if l.Token < 1 || l.Token > backend.MaxToken {
		t.Errorf("token %d is not within 1 and %d", l.Token, int64(backend.MaxToken))
	}
	if l.TTL < c.TTL {
		t.Errorf("granted for %v, asked for %v", l.TTL, c.TTL)
	}
}

func (t *trial) renew(s backend.LeaseStore, l backend.Lease) backend.Lease {
	renewed, err := s.Renew(t.ctx, l)
	if err != nil {
		t.Fatalf("renewal of a live lease: got %v, want success", err)
	}
	if renewed.Token != l.Token || renewed.Attempt != l.Attempt || renewed.Holder != l.Holder || renewed.Election != l.Election {
		t.Errorf("the renewed lease is %+v, want the identity of %+v", renewed, l)
	}
	return renewed
}

func (t *trial) release(s backend.LeaseStore, l backend.Lease, h backend.Handover) {
	if err := s.Release(t.ctx, l, h); err != nil {
		t.Fatalf("release of a live lease: got %v, want success", err)
	}
}

func (t *trial) get(s backend.LeaseStore) backend.Record { return t.read(s, t.election) }

func (t *trial) read(s backend.LeaseStore, election string) backend.Record {
	r, err := s.Get(t.ctx, election)
	if err != nil {
		t.Fatalf("get of %q: %v", election, err)
	}
	return r
}

// refused checks that err is the definite answer that was wanted.
func (t *trial) refused(what string, err error, want error) {
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want the error %q", what, orSuccess(err), want)
	}
}

func orSuccess(err error) any {
	if err == nil {
		return "success"
	}
	return err
}

// stillHeld checks that l lives and is as it was.
func (t *trial) stillHeld(s backend.LeaseStore, l backend.Lease, after string) {
	r := t.read(s, l.Election)
	if r.Holder.ID != l.Holder || r.Token != l.Token || r.Attempt != l.Attempt {
		t.Errorf("after %s the election is %v with attempt %s, want it held by %s under token %d with attempt %s as before",
			after, r, r.Attempt, l.Holder, l.Token, l.Attempt)
	}
}

func (t *trial) isFree(s backend.LeaseStore, after string) {
	if r := t.get(s); r.Held() || r.Remaining != 0 {
		t.Errorf("after %s the election is %v (remaining %v), want it free", after, r, r.Remaining)
	}
}

// inTime ends the case undecided when the machine was too slow for what comes next to be certain.
func (t *trial) inTime(end time.Time) {
	if late := time.Since(end); late >= 0 {
		t.stop(Undecided, "the machine was too slow: the calls returned %v too late to tell", late.Round(time.Millisecond))
	}
}

// until is the moment before which a lease that was asked for at sent lives for certain.
func (t *trial) until(sent time.Time, l backend.Lease) time.Time {
	return sent.Add(certain(l, t.limits))
}

// wait lets d pass.
func (t *trial) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		t.stop(Undecided, "%v", context.Cause(t.ctx))
	}
}

func (t *trial) waitUntil(at time.Time) { t.wait(time.Until(at)) }

// step is how often a case looks for the end of a lease.
func (t *trial) step() time.Duration {
	return min(max(t.ttl/50, 2*time.Millisecond), 20*time.Millisecond)
}

// succeed acquires as soon as the present lease or reservation has ended, and fails when that takes longer than until.
func (t *trial) succeed(s backend.LeaseStore, c backend.Claim, until time.Time) backend.Lease {
	for {
		late := time.Now().After(until)
		l, err := s.Acquire(t.ctx, c)
		switch {
		case err == nil:
			t.checkLease(l, c)
			return l
		case !errors.Is(err, backend.ErrHeld):
			t.Fatalf("acquire while the election is held: got %v, want a lease or held", err)
		case late:
			t.Fatalf("not grantable to another %v after it should have been: %v", time.Since(until)+generous, err)
		}
		t.wait(t.step())
	}
}

// afterExpiry waits until a lease that was asked for at start is over for certain, by looking, and returns the time of that look.
func (t *trial) afterExpiry(s backend.LeaseStore, l backend.Lease) {
	started := time.Now()
	until := started.Add(l.TTL + t.limits.ExpiryLag + generous)
	if !t.watched() {
		t.wait(l.TTL)
	}
	for t.read(s, l.Election).Held() {
		if time.Now().After(until) {
			t.Fatalf("the lease of %v is still shown as held %v later", l.TTL, time.Since(started))
		}
		t.wait(t.step())
	}
}

// watched reports whether a lease ends by a challenger that has watched it, rather than by the store's clock.
func (t *trial) watched() bool {
	return t.limits.Expiry == backend.Observed || t.limits.Expiry == backend.Beat
}

// native ends the case where leases don't end by the store's clock.
func (t *trial) native() {
	if t.watched() {
		t.stop(NotClaimed, "leases of this store are %s: they end when they are taken over", t.limits.Expiry)
	}
}

// together runs f n times at once and returns when all have returned. f must not end the case.
func (t *trial) together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// client is one of the two clients, in turn.
func (t *trial) client(i int) *recorder {
	if i%2 == 0 {
		return t.a
	}
	return t.b
}
