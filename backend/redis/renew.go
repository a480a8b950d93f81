package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// renewalParts is the number of parts in which the script tells of one renewal.
const renewalParts = 4

// Renew implements backend.LeaseStore.
func (s *Store) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	r := s.renewTogether(ctx, []backend.Lease{l})[0]
	return r.Lease, r.Err
}

// RenewAll implements backend.BatchRenewer: with one script for each 100 leases, or in a cluster one pipeline for each node.
func (s *Store) RenewAll(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	if c, ok := s.client.(*goredis.ClusterClient); ok {
		return s.renewInCluster(ctx, c, leases)
	}
	renewals := make([]backend.Renewal, 0, len(leases))
	for len(leases) > 0 {
		n := min(batch, len(leases))
		renewals = append(renewals, s.renewTogether(ctx, leases[:n])...)
		leases = leases[n:]
	}
	return renewals
}

// renewTogether renews leases with one script call.
func (s *Store) renewTogether(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	keys := make([]string, len(leases))
	args := make([]any, 0, renewalParts*len(leases))
	for i, l := range leases {
		keys[i] = s.names.key(l.Election)
		args = append(args, renewal(l)...)
	}
	a, short, err := s.change(ctx, renewScript, keys, args...)
	if len(leases) > 1 && scattered(err) {
		return s.renewEach(ctx, leases)
	}
	return s.renewals(leases, keys, a, errors.Join(err, short))
}

// scattered reports that the leases lie on several nodes, which is not seen where a proxy or a wrapped client stands before a cluster. Nothing was run.
func scattered(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "CROSSSLOT") }

func (s *Store) renewEach(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	renewals := make([]backend.Renewal, 0, len(leases))
	for i := range leases {
		renewals = append(renewals, s.renewTogether(ctx, leases[i:i+1])...)
	}
	return renewals
}

// renewal is how the script takes a lease.
func renewal(l backend.Lease) []any {
	return []any{l.Holder, l.Attempt.String(), l.Token, micros(l.TTL)}
}

// renewals reads what became of each lease. A failure concerns those that were renewed, or of which nothing is known.
func (s *Store) renewals(leases []backend.Lease, keys []string, a answer, failure error) []backend.Renewal {
	renewals := make([]backend.Renewal, len(leases))
	if failure == nil && (a.status != "renewals" || len(a.parts) != renewalParts*len(leases)) {
		failure = unexpected(a)
	}
	for i, l := range leases {
		r := &renewals[i]
		one := answer{status: "renewed"}
		if part := renewalParts * i; part+renewalParts <= len(a.parts) {
			one = answer{status: a.parts[part], parts: append([]string{l.Holder}, a.parts[part+1:part+renewalParts]...)}
		}
		switch err := refuse(keys[i], one.status); {
		case one.status == "not held":
			r.Err = backend.ErrNotHeld
		case one.status == "foreign":
			r.Err = fmt.Errorf("%w: %s", backend.ErrNotHeld, err.Error())
		case err != nil:
			r.Err = err
		case failure != nil:
			r.Err = failure
		case one.status != "renewed":
			r.Err = unexpected(one)
		default:
			r.Lease, r.Err = one.lease(l.Election, l.Holder, l.Attempt)
		}
	}
	return renewals
}
