package conformance

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

var getCases = []Case{
	{Name: "get tells everything of a held election", Rule: s8, run: getHeld},
	{Name: "get tells a remaining time that is true and falls", Rule: s8, Waits: true, run: getRemaining},
	{Name: "get counts the renewals of the present lease", Rule: s8, run: getRenewals},
	{Name: "get of a released election tells no holder and the last term", Rule: s8, Covers: []string{"EC22"}, run: getReleased},
	{Name: "get of an expired election tells no holder and the last term", Rule: s8, Waits: true, run: getExpired},
	{Name: "get of an election that never had a holder tells nothing but its name", Rule: s8, Covers: []string{"EC22"}, run: getUnused},
	{Name: "get tells of each change as soon as it is confirmed, through any client", Rule: s8, run: getFresh},
}

func described(c backend.Claim) backend.Claim {
	c.Candidate.Description = backend.Description{App: "bill\"ing", Host: "h1.example", Port: 8443, Version: "v1.2.3+é", Address: "https://h1.example:8443/a?b=c&d={e}"}
	return c
}

func getHeld(t *trial) {
	c := described(t.claim("P"))
	l := t.grant(t.a, c)
	for _, s := range []backend.LeaseStore{t.a, t.b} {
		r := t.get(s)
		if r.Election != t.election || r.Holder != c.Candidate {
			t.Errorf("get of %q tells %q and holder %+v, want %+v", t.election, r.Election, r.Holder, c.Candidate)
		}
		if r.Token != l.Token || r.Counter != l.Token || r.Attempt != l.Attempt || r.TTL != l.TTL {
			t.Errorf("get tells token %d, counter %d, attempt %s, TTL %v, want those of the lease: %+v", r.Token, r.Counter, r.Attempt, r.TTL, l)
		}
		if r.Remaining <= 0 || r.Remaining > r.TTL || r.Renewals != 0 || r.Age < 0 {
			t.Errorf("get tells remaining %v of %v, %d renewals, age %v of a new lease", r.Remaining, r.TTL, r.Renewals, r.Age)
		}
		if r.Reserved != (backend.Reservation{}) || r.MovedTo != "" || r.Version != backend.Version {
			t.Errorf("get tells %+v, want version %d and neither a reservation nor a move", r, backend.Version)
		}
	}
}

// getRemaining bounds what is left by the times of the calls: the lease began within the call that was granted.
func getRemaining(t *trial) {
	sent := time.Now()
	l := t.grant(t.a, t.brief("P"))
	if t.watched() {
		t.get(t.b) // what is left counts from a challenger's first look
	}
	replied := time.Now()
	if t.watched() { // nobody counts from before the first look
		t.get(t.b)
	}
	seen := time.Now()
	slack := tolerance(l.TTL) + max(time.Millisecond, t.limits.Granularity) // the rate of clocks, and the rounding of what is left
	for range 4 {
		asked := time.Now()
		r := t.get(t.b)
		told := time.Now()
		t.inTime(t.until(sent, l))
		most, least := l.TTL-asked.Sub(seen)+t.limits.ExpiryLag+slack, l.TTL-told.Sub(sent)-slack-t.limits.ClockStep
		if r.Remaining > min(most, l.TTL) || r.Remaining < least {
			t.Errorf("remaining is %v of %v, want it within %v and %v", r.Remaining, l.TTL, least, min(most, l.TTL))
		}
		if youngest, oldest := asked.Sub(replied)-slack, told.Sub(sent)+slack+t.limits.ClockStep; r.Age < youngest || r.Age > oldest {
			t.Errorf("age is %v, want it within %v and %v", r.Age, youngest, oldest)
		}
		t.wait(t.ttl / 6)
	}
}

func getRenewals(t *trial) {
	if t.limits.SilentRenewals {
		t.stop(NotClaimed, "renewals leave the record of this store alone")
	}
	l := t.grant(t.a, t.claim("P"))
	for i := range int64(4) {
		if r := t.get(t.b); r.Renewals != i {
			t.Errorf("get tells %d renewals, want %d", r.Renewals, i)
		}
		t.renew(t.a, l)
	}
	t.release(t.a, l, backend.Handover{})
	t.grant(t.a, t.claim("P"))
	if r := t.get(t.b); r.Renewals != 0 {
		t.Errorf("get tells %d renewals of a new lease, want 0", r.Renewals)
	}
}

// lastTerm checks the record of a free election.
func (t *trial) lastTerm(r backend.Record, l backend.Lease, after string) {
	if r.Held() || r.Holder != (backend.Candidate{}) || r.Remaining != 0 {
		t.Errorf("after %s get tells holder %+v with %v remaining, want none", after, r.Holder, r.Remaining)
	}
	if r.Token != l.Token || r.Counter != l.Token || r.Attempt != l.Attempt {
		t.Errorf("after %s get tells token %d, counter %d, attempt %s, want the last term's: %d, %d, %s", after, r.Token, r.Counter, r.Attempt, l.Token, l.Token, l.Attempt)
	}
}

func getReleased(t *trial) {
	l := t.grant(t.a, described(t.claim("P")))
	t.release(t.a, l, backend.Handover{})
	t.lastTerm(t.get(t.a), l, "a release")
	t.lastTerm(t.get(t.b), l, "a release")
}

func getExpired(t *trial) {
	l := t.grant(t.a, described(t.brief("P")))
	t.afterExpiry(t.b, l)
	if !t.watched() { // else only who has watched can tell
		t.lastTerm(t.get(t.a), l, "expiry")
	}
	t.lastTerm(t.get(t.b), l, "expiry")
}

func getUnused(t *trial) {
	r := t.get(t.a)
	r.Mode = "" // native is the zero value's meaning
	if want := (backend.Record{Election: t.election}); r != want {
		t.Errorf("get tells %+v, want the zero record but for its name", r)
	}
}

func getFresh(t *trial) {
	for i := range 20 {
		l := t.grant(t.client(i), t.claim("P"))
		t.stillHeld(t.client(i+1), l, "a grant")
		t.release(t.client(i), l, backend.Handover{})
		t.isFree(t.client(i+1), "a release")
	}
}
