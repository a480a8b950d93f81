package etcd

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// Release implements backend.LeaseStore.
func (s *Store) Release(ctx context.Context, l backend.Lease, h backend.Handover) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var last error
	var reservation clientv3.LeaseID
	for {
		v, err := s.read(ctx, l.Election)
		if err != nil {
			return orLast(err, last)
		}
		if over, err := v.released(l); over {
			s.over(v, l)
			return err
		}
		if h.For > 0 && reservation == 0 {
			if reservation, err = s.reserve(ctx, v, h); err != nil {
				return err
			}
		}
		rev, err := s.commit(ctx, v, s.releasing(v, h, reservation))
		if rev != 0 {
			s.ended(l)
			return nil
		}
		if err != nil {
			if final(err) {
				return err
			}
			last = err
		}
	}
}

// released tells whether there is nothing to release, and what to say then.
func (v *view) released(l backend.Lease) (over bool, err error) {
	e := v.entry
	switch {
	case !v.is(l.Attempt) || l.Token != 0 && e.Token != l.Token:
		return true, backend.ErrNotHeld
	case !v.held() && e.Released:
		return true, nil
	case !v.held() || e.Holder != l.Holder:
		return true, backend.ErrNotHeld
	}
	return false, nil
}

// reserve makes the etcd lease of a reservation, which is at least as long as the shortest that etcd keeps.
func (s *Store) reserve(ctx context.Context, v view, h backend.Handover) (clientv3.LeaseID, error) {
	ttl := wholeSeconds(h.For)
	if v.entry.TTL > 0 {
		ttl = min(ttl, v.entry.TTL)
	}
	return s.grant(ctx, max(ttl, wholeSeconds(s.limits.MinTTL)))
}

func (s *Store) releasing(v view, h backend.Handover, reservation clientv3.LeaseID) []clientv3.Op {
	e := v.ground()
	e.Released = true
	ops := []clientv3.Op{
		clientv3.OpDelete(s.names.leader(v.election)),
		clientv3.OpPut(s.names.counter(v.election), e.encode()),
	}
	if reservation != 0 {
		ops = append(ops, clientv3.OpPut(s.names.reserved(v.election), h.To, clientv3.WithLease(reservation)))
	}
	return ops
}

// over forgets a lease's term if a view shows that it has ended. A lease that is refused for its token or its holder says nothing about the term of its attempt.
func (s *Store) over(v view, l backend.Lease) {
	if !v.held() || !v.is(l.Attempt) {
		s.ended(l)
	}
}

// ended forgets a term that has ended for certain. Its carrier may carry the next one.
func (s *Store) ended(l backend.Lease) {
	for _, c := range s.fleet.forget(l) {
		s.giveBack(c)
	}
}

// Raise implements backend.TokenRaiser.
func (s *Store) Raise(ctx context.Context, election string, token int64) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if token <= 0 || token > backend.MaxToken {
		return fmt.Errorf("%w: token %d is not within 1 and %d", backend.ErrInvalid, token, int64(backend.MaxToken))
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	for {
		v, err := s.read(ctx, election)
		if err != nil {
			return err
		}
		e := v.ground()
		switch {
		case e.Version > backend.Version:
			return fmt.Errorf("%w: version %d", backend.ErrVersion, e.Version)
		case token <= v.entry.Counter:
			return nil
		case !backend.FloorInRange(token, e.Counter, time.Now()):
			return fmt.Errorf("%w: token %d is far above the counter %d", backend.ErrInvalid, token, e.Counter)
		}
		e.Version, e.Counter = backend.Version, max(token, e.Counter)
		rev, err := s.commit(ctx, v, []clientv3.Op{clientv3.OpPut(s.names.counter(election), e.encode())})
		if rev != 0 || err != nil && final(err) {
			return err
		}
	}
}
