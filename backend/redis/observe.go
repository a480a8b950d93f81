package redis

import "github.com/tenure-go/tenure/backend"

// observe reads the record that an answer tells, and times it by what this store has seen where the server's clock doesn't decide. sign is set when the holder has been silent
// for its whole TTL: whoever claims the election with that sign takes it over, if it is silent still. Such a record is shown as free.
func (s *Store) observe(election string, a answer) (r backend.Record, sign string, err error) {
	r, err = a.record(election)
	if err != nil {
		return backend.Record{}, "", err
	}
	if r.Mode != backend.Observed {
		s.silence.Forget(election)
		return r, "", nil
	}
	sign = a.part(13)
	if r.Remaining = r.TTL - s.silence.Saw(election, sign); r.Remaining > 0 {
		return r, "", nil
	}
	r.Holder, r.Remaining, r.Age, r.Renewals = backend.Candidate{}, 0, 0, 0
	return r, sign, nil
}
