package redis

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// recordParts is the number of parts in which scripts tell a record.
const recordParts = 14

// Get implements backend.LeaseStore.
func (s *Store) Get(ctx context.Context, election string) (backend.Record, error) {
	a, err := s.run(ctx, getScript, election)
	if err != nil {
		return backend.Record{}, err
	}
	if a.status != "record" {
		return backend.Record{}, unexpected(a)
	}
	r, _, err := s.observe(election, a)
	return r, err
}

// record reads a record as the scripts' function shown tells it.
func (a answer) record(election string) (backend.Record, error) {
	if len(a.parts) != recordParts {
		return backend.Record{}, unexpected(a)
	}
	var n [8]int64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(a.parts[i], 10, 64); err != nil {
			return backend.Record{}, fmt.Errorf("part %d of a record, %q, is not a number", i, a.parts[i])
		}
	}
	attempt, err := fence.ParseAttempt(a.parts[10])
	if err != nil {
		return backend.Record{}, err
	}
	r := backend.Record{
		Election: election, Version: int(n[0]), Counter: n[1], Token: n[2], TTL: span(n[3]), Remaining: span(n[4]), Age: span(n[5]), Renewals: n[6],
		Attempt: attempt, Mode: backend.Native, MovedTo: a.parts[12],
		Reserved: backend.Reservation{To: a.parts[11], For: span(n[7])},
	}
	if id := a.parts[8]; id != "" {
		r.Holder = backend.Candidate{ID: id, Description: backend.DecodeDescription(a.parts[9])}
	}
	if a.parts[13] != "" {
		r.Mode = backend.Observed
	}
	return r, nil
}
