package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tenure-go/tenure/backend"
)

// RenewAll implements backend.BatchRenewer. A lease whose row another transaction has locked comes out as unknown, and is best renewed alone.
func (s *Store) RenewAll(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	renewals := make([]backend.Renewal, 0, len(leases))
	for len(renewals) < len(leases) {
		part := leases[len(renewals):]
		renewals = append(renewals, s.renewPart(ctx, part[:min(len(part), batchSize)])...)
	}
	return renewals
}

func (s *Store) renewPart(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	outcomes := make([]string, len(leases))
	err := s.do(ctx, func(ctx context.Context, texts *statements) error {
		all, err := s.write(ctx, statement{texts.renewAll, s.batch(leases)})
		if err != nil {
			return err
		}
		for _, r := range all[0] {
			place, err := strconv.Atoi(r[0])
			if err != nil || place < 1 || place > len(leases) {
				return fmt.Errorf("the reply to a batch of %d leases tells of lease %q", len(leases), r[0])
			}
			outcomes[place-1] = r[1]
		}
		return nil
	})
	renewals := make([]backend.Renewal, len(leases))
	for i, l := range leases {
		switch {
		case err != nil:
			renewals[i].Err = err
		case outcomes[i] == "renewed":
			renewals[i].Lease = backend.Lease{Election: l.Election, Holder: l.Holder, Token: l.Token, Attempt: l.Attempt, TTL: l.TTL}
		case outcomes[i] == "not held":
			renewals[i].Err = backend.ErrNotHeld
		default:
			renewals[i].Err = errSkipped
		}
	}
	return renewals
}

// batch is the arguments of renew_all.sql.
func (s *Store) batch(leases []backend.Lease) []string {
	var columns [5][]string
	for _, l := range leases {
		for i, v := range [5]string{encode(l.Election), encode(l.Holder), strconv.FormatInt(l.Token, 10), l.Attempt.String(), micros(l.TTL)} {
			columns[i] = append(columns[i], v)
		}
	}
	args := []string{encode(s.options.Prefix)}
	for _, c := range columns {
		args = append(args, array(c))
	}
	return args
}
