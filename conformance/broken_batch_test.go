package conformance

import (
	"context"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// RenewAll renews one by one, unless it has a bug.
func (c *brokenClient) RenewAll(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	renewals := make([]backend.Renewal, len(leases))
	for i, l := range leases {
		if i > 0 && c.has("a batch renews its first lease only") {
			renewals[i].Lease = l
			continue
		}
		renewals[i].Lease, renewals[i].Err = c.Renew(ctx, l)
	}
	lost := slices.IndexFunc(renewals, func(r backend.Renewal) bool { return r.Err != nil })
	switch {
	case lost >= 0 && c.has("one lost lease fails the whole batch"):
		for i := range renewals {
			renewals[i] = renewals[lost]
		}
	case lost >= 0 && c.has("a batch hides what is lost"):
		for i, l := range leases {
			renewals[i] = backend.Renewal{Lease: l}
		}
	case c.has("a batch answers in another order"):
		slices.Reverse(renewals)
	case c.has("a client's leases live as long as it renews any"):
		c.share()
	}
	return renewals
}

// share extends all live leases of a client, as one heartbeat for all of them does.
func (c *brokenClient) share() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.elections {
		if now := time.Now(); e.client == c && e.live(now) {
			e.expires = now.Add(e.ttl)
		}
	}
}
