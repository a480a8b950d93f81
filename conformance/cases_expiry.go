package conformance

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

var expiryCases = []Case{
	{Name: "a lease keeps others out for its TTL and is grantable soon after", Rule: s6, Waits: true, Covers: []string{"EC14", "EC45", "PE58"}, run: func(t *trial) {
		t.expires(t.brief("P"))
	}},
	{Name: "a longer lease keeps others out for longer", Rule: s6, Waits: true, Covers: []string{"R61"}, run: func(t *trial) {
		c := t.brief("P")
		c.TTL = min(t.ttl*2, t.limits.MaxTTL)
		t.expires(c)
	}},
	{Name: "a challenger's shorter TTL does not shorten the holder's", Rule: s6, Waits: true, Covers: []string{"DX6"}, run: shorterChallenger},
	{Name: "a lease outlives the client that holds it", Rule: s6, Waits: true, Covers: []string{"PE25"}, run: closedClient},
	{Name: "a renewal keeps others out for a whole TTL from its start", Rule: anchor, Waits: true, Covers: []string{"DX1"}, run: func(t *trial) {
		t.anchored(func(l backend.Lease, _ backend.Claim) (backend.Lease, error) { return t.a.Renew(t.ctx, l) })
	}},
	{Name: "a repeated claim keeps others out for a whole TTL from its start", Rule: anchor, Waits: true, Covers: []string{"DX1"}, run: func(t *trial) {
		t.anchored(func(_ backend.Lease, c backend.Claim) (backend.Lease, error) { return t.a.Acquire(t.ctx, c) })
	}},
}

// expires has c granted and checks when another is.
func (t *trial) expires(c backend.Claim) {
	sent := time.Now()
	l := t.grant(t.a, c)
	got := t.succeed(t.b, t.claim("Q"), time.Now().Add(l.TTL+t.limits.ExpiryLag+generous))
	t.notBefore(sent, l.TTL, "a lease")
	t.above(got.Token, l.Token, "expiry")
}

func shorterChallenger(t *trial) {
	short := max(t.ttl/4, t.limits.MinTTL)
	holder := t.claim("P")
	holder.TTL = min(4*short, t.limits.MaxTTL)
	sent := time.Now()
	l := t.grant(t.a, holder)
	c := t.claim("Q")
	c.TTL = short
	t.succeed(t.b, c, time.Now().Add(l.TTL+t.limits.ExpiryLag+generous))
	t.notBefore(sent, l.TTL, "a lease")
}

func closedClient(t *trial) {
	s := t.open()
	sent := time.Now()
	l := t.grant(s, t.brief("P"))
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	t.succeed(t.b, t.claim("Q"), time.Now().Add(l.TTL+t.limits.ExpiryLag+generous))
	t.notBefore(sent, l.TTL, "a lease whose client was closed")
}

// anchored extends a lease in the middle of its life and checks that the whole TTL counts from there.
func (t *trial) anchored(extend func(backend.Lease, backend.Claim) (backend.Lease, error)) {
	c := t.brief("P")
	first := time.Now()
	l := t.grant(t.a, c)
	t.wait(t.ttl / 2)
	sent := time.Now()
	extended, err := extend(l, c)
	t.inTime(t.until(first, l))
	if err != nil {
		t.Fatalf("extension of a live lease: %v", err)
	}
	t.succeed(t.b, t.claim("Q"), time.Now().Add(extended.TTL+t.limits.ExpiryLag+generous))
	t.notBefore(sent.Add(-extended.AnchorAge), extended.TTL, "an extension")
}
