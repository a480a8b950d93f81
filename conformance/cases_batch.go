package conformance

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// batchSize is above what a store might do in one piece by chance, and small enough for a slow one.
const batchSize = 20

var batchCases = []Case{
	{Name: "a batch renews each of its leases, in order", Rule: s13, run: batchRenews},
	{Name: "leases that are lost come out of a batch as not held, and all others are renewed", Rule: s13, Covers: []string{"R35", "R36"}, run: batchWithLost},
	{Name: "the leases of a batch live for a whole TTL from its start", Rule: s13, Waits: true, Covers: []string{"DX1"}, run: batchAnchored},
	{Name: "a lease that is left out of the batches ends although its client renews others", Rule: s6, Waits: true, Covers: []string{"DX2"}, run: batchLeavesOut},
	{Name: "an expired lease is not revived by a batch", Rule: s13, Waits: true, run: batchExpired},
	{Name: "a late batch does not renew a released lease or a later term of the same candidate", Rule: s13, Covers: []string{"DX4", "PE56"}, run: batchLate},
}

// team is one lease each of many elections, all held by one client.
func (t *trial) team(s backend.LeaseStore, n int, ttl time.Duration) (leases []backend.Lease, claims []backend.Claim) {
	for i := range n {
		c := t.claim("P")
		c.Election, c.TTL = fmt.Sprintf("%s/%d", t.election, i), ttl
		leases, claims = append(leases, t.grant(s, c)), append(claims, c)
	}
	return leases, claims
}

// renewAll renews a batch and checks that the reply has the right form.
func (t *trial) renewAll(s *recorder, leases []backend.Lease) []backend.Renewal {
	renewals := s.RenewAll(t.ctx, leases)
	if len(renewals) != len(leases) {
		t.Fatalf("a batch of %d leases was answered with %d renewals", len(leases), len(renewals))
	}
	for i, r := range renewals {
		if l := leases[i]; r.Err == nil && (r.Lease.Election != l.Election || r.Lease.Token != l.Token || r.Lease.Attempt != l.Attempt || r.Lease.Holder != l.Holder) {
			t.Errorf("renewal %d of a batch is %+v, want the identity of %+v", i, r.Lease, l)
		}
	}
	return renewals
}

func batchRenews(t *trial) {
	leases, _ := t.team(t.a, batchSize, t.long)
	for range 2 {
		for i, r := range t.renewAll(t.a, leases) {
			if r.Err != nil || r.Lease.TTL < t.long {
				t.Errorf("renewal %d of a batch of live leases: TTL %v and %v, want %v", i, r.Lease.TTL, orSuccess(r.Err), t.long)
			}
		}
	}
	if !t.limits.SilentRenewals {
		for _, l := range leases {
			if r := t.read(t.b, l.Election); r.Renewals != 2 {
				t.Errorf("get tells %d renewals after two batches", r.Renewals)
			}
		}
	}
	if n := len(t.renewAll(t.a, nil)); n != 0 {
		t.Errorf("an empty batch has %d renewals", n)
	}
}

func batchWithLost(t *trial) {
	leases, claims := t.team(t.a, batchSize, t.long)
	t.release(t.a, leases[0], backend.Handover{})
	t.release(t.a, leases[batchSize/2], backend.Handover{})
	taken := claims[batchSize/2]
	taken.Candidate, taken.Attempt = backend.Candidate{ID: t.id("Q")}, t.attempt()
	other := t.grant(t.b, taken)
	leases[batchSize-1].Attempt = t.attempt()
	leases[batchSize-2].Token++
	lost := map[int]string{0: "released", batchSize / 2: "taken by another", batchSize - 1: "of a foreign attempt", batchSize - 2: "with a foreign token"}
	for i, r := range t.renewAll(t.a, leases) {
		if what, is := lost[i]; is {
			t.refused("renewal in a batch of a lease "+what, r.Err, backend.ErrNotHeld)
		} else if r.Err != nil {
			t.Errorf("a live lease beside lost ones in a batch: %v, want it renewed", r.Err)
		}
	}
	t.stillHeld(t.b, other, "a batch with the former holder's lease")
}

// batchAnchored lets the first TTL of all leases pass; then others must still be kept out.
func batchAnchored(t *trial) {
	sent := time.Now()
	leases, claims := t.team(t.a, batchSize/4, t.ttl)
	over := time.Now().Add(leases[0].TTL)
	t.wait(t.ttl / 2)
	again := time.Now()
	renewals := t.renewAll(t.a, leases)
	t.inTime(t.until(sent, leases[0]))
	t.waitUntil(over.Add(t.ttl / 8))
	for i, c := range claims {
		if renewals[i].Err != nil {
			t.Fatalf("renewal %d in a batch of live leases: %v", i, renewals[i].Err)
		}
		c.Candidate, c.Attempt = backend.Candidate{ID: t.id("Q")}, t.attempt()
		_, err := t.b.Acquire(t.ctx, c)
		t.inTime(t.until(again, renewals[i].Lease))
		t.refused("acquire by another after the first TTL but within the batch's", err, backend.ErrHeld)
	}
}

// batchLeavesOut goes on renewing all leases but one.
func batchLeavesOut(t *trial) {
	sent := time.Now()
	leases, claims := t.team(t.a, 3, t.ttl)
	dead, c := leases[0], claims[0]
	renewals := t.renewAll(t.a, leases) // the last time for the first
	last := time.Now()
	t.inTime(t.until(sent, dead))
	for _, r := range renewals {
		if r.Err != nil {
			t.Fatalf("renewal in a batch of live leases: %v", r.Err)
		}
	}
	c.Candidate, c.Attempt = backend.Candidate{ID: t.id("Q")}, t.attempt()
	until := last.Add(dead.TTL + t.limits.ExpiryLag + generous)
	next := time.Now()
	for {
		if time.Now().After(next) {
			t.renewAll(t.a, leases[1:])
			next = time.Now().Add(t.ttl / 3)
		}
		_, err := t.b.Acquire(t.ctx, c)
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("a lease that nobody renews is held %v after its last renewal, while its client renews others: %v", time.Since(last), err)
		}
		t.wait(t.step())
	}
	t.notBefore(sent, dead.TTL, "a lease left out of the batches")
}

func batchExpired(t *trial) {
	t.native()
	leases, _ := t.team(t.a, 2, t.ttl)
	for _, l := range leases {
		t.afterExpiry(t.b, l)
	}
	for _, r := range t.renewAll(t.a, leases) {
		t.refused("renewal of an expired lease in a batch", r.Err, backend.ErrNotHeld)
	}
}

func batchLate(t *trial) {
	old, claims := t.team(t.a, 3, t.long)
	for _, l := range old {
		t.release(t.a, l, backend.Handover{})
	}
	again := claims[1]
	again.Attempt = t.attempt()
	later := t.grant(t.a, again)
	for i, r := range t.renewAll(t.a, old) {
		t.refused(fmt.Sprintf("late renewal %d of a released lease in a batch", i), r.Err, backend.ErrNotHeld)
	}
	t.stillHeld(t.b, later, "a late batch of earlier terms")
	t.renew(t.a, later)
}
