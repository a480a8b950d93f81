package conformance

import (
	"strings"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var ttlCases = []Case{
	{Name: "a TTL that can't be kept exactly is rounded up and reported", Rule: s12, Covers: []string{"EC15", "PE34"}, run: roundedTTL},
	{Name: "a TTL outside of the range is refused with the range", Rule: s12, Covers: []string{"EC15", "EC42", "EC47", "PE58"}, run: refusedTTL},
	{Name: "the least and the greatest TTL are granted", Rule: s12, run: extremeTTL},
	{Name: "the TTL that is asked for reaches the store", Rule: s12, Covers: []string{"R61"}, run: reachingTTL},
	{Name: "the TTL of a renewal is the one that counts", Rule: s12, Waits: true, Covers: []string{"R61"}, run: renewedTTL},
}

func roundedTTL(t *trial) {
	for _, odd := range []time.Duration{1, time.Microsecond + 1, time.Millisecond + 1, 333333333} {
		t.election += "+"
		c := t.claim("P")
		c.TTL = t.long + odd
		if c.TTL > t.limits.MaxTTL {
			c.TTL -= min(time.Second, t.long/2)
		}
		l := t.grant(t.a, c)
		t.isRounded(l, c.TTL)
		if r := t.get(t.b); r.TTL != l.TTL {
			t.Errorf("the record shows a TTL of %v, the lease %v", r.TTL, l.TTL)
		}
		l.TTL = c.TTL
		t.isRounded(t.renew(t.a, l), c.TTL)
	}
}

func (t *trial) isRounded(l backend.Lease, asked time.Duration) {
	unit := max(t.limits.Granularity, 1)
	if l.TTL < asked || l.TTL >= asked+unit || l.TTL%unit != 0 {
		t.Errorf("asked for %v, granted %v, want it rounded up to a multiple of %v", asked, l.TTL, unit)
	}
}

func refusedTTL(t *trial) {
	l := t.grant(t.a, t.claim("P"))
	for _, ttl := range []time.Duration{t.limits.MinTTL - 1, t.limits.MaxTTL + 1, 0, -time.Second} {
		c := t.claim("P")
		c.Election, c.TTL = t.election+"/2", ttl
		_, err := t.a.Acquire(t.ctx, c)
		t.tellsRange(err, ttl)
		bad := l
		bad.TTL = ttl
		_, err = t.a.Renew(t.ctx, bad)
		t.tellsRange(err, ttl)
	}
	t.stillHeld(t.b, l, "renewals with refused TTLs")
}

func (t *trial) tellsRange(err error, ttl time.Duration) {
	t.refused("a TTL of "+ttl.String(), err, backend.ErrInvalid)
	if err != nil && (!strings.Contains(err.Error(), t.limits.MinTTL.String()) || !strings.Contains(err.Error(), t.limits.MaxTTL.String())) {
		t.Errorf("the error %q does not tell the range %v to %v", err, t.limits.MinTTL, t.limits.MaxTTL)
	}
}

func extremeTTL(t *trial) {
	for _, ttl := range []time.Duration{t.limits.MaxTTL, t.limits.MinTTL} {
		c := t.claim("P")
		c.TTL = ttl
		l := t.grant(t.a, c)
		if ttl == t.limits.MaxTTL {
			t.release(t.a, l, backend.Handover{}) // the least may be over by now
		}
	}
}

// reachingTTL needs no waiting: the store's own record tells what is left.
func reachingTTL(t *trial) {
	for i, ttl := range []time.Duration{t.ttl * 8, t.ttl * 4, t.long} {
		ttl = min(ttl, t.limits.MaxTTL)
		t.election += "+"
		c := t.claim("P")
		c.TTL = ttl
		sent := time.Now()
		l := t.grant(t.a, c)
		r := t.get(t.b)
		passed := time.Since(sent)
		t.inTime(t.until(sent, l))
		least := l.TTL - passed - tolerance(l.TTL) - max(time.Millisecond, t.limits.Granularity) - t.limits.ClockStep
		if r.TTL != l.TTL || r.Remaining > l.TTL || r.Remaining < least {
			t.Errorf("lease %d of %v: the record shows a TTL of %v with %v remaining, want at least %v", i, ttl, r.TTL, r.Remaining, least)
		}
	}
}

func renewedTTL(t *trial) {
	first := time.Now()
	l := t.grant(t.a, t.brief("P"))
	end := t.until(first, l)
	l.TTL = min(t.ttl*3, t.limits.MaxTTL)
	sent := time.Now()
	renewed, err := t.a.Renew(t.ctx, l)
	t.inTime(end)
	if err != nil {
		t.Fatalf("renewal with a longer TTL: %v", err)
	}
	if renewed.TTL < l.TTL {
		t.Errorf("renewed for %v, asked for %v", renewed.TTL, l.TTL)
	}
	t.succeed(t.b, t.claim("Q"), time.Now().Add(renewed.TTL+t.limits.ExpiryLag+generous))
	t.notBefore(sent, renewed.TTL, "a renewal")
}
