package etcd

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// Get implements backend.LeaseStore.
func (s *Store) Get(ctx context.Context, election string) (backend.Record, error) {
	if err := s.usable(ctx); err != nil {
		return backend.Record{}, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	v, err := s.read(ctx, election)
	if err != nil {
		return backend.Record{}, err
	}
	v.observe(&s.silence)
	return s.describe(ctx, v)
}

// looks is how often describe reads again when a lease ends between its two requests.
const looks = 4

// describe adds the times to a view. When an etcd lease has ended since the view was read, the keys have changed: it reads again.
func (s *Store) describe(ctx context.Context, v view) (backend.Record, error) {
	for range looks {
		r, found, err := s.timed(ctx, v)
		if err != nil || found {
			return r, err
		}
		if v, err = s.read(ctx, v.election); err != nil {
			return backend.Record{}, err
		}
		v.observe(&s.silence)
	}
	r := v.record() // a lease that is always about to end
	if v.held() {
		r.Remaining = s.limits.ExpiryLag
	}
	return r, nil
}

// timed asks for what is left of the lease or the reservation. found is false when the etcd lease has gone.
func (s *Store) timed(ctx context.Context, v view) (r backend.Record, found bool, err error) {
	r = v.record()
	switch {
	case v.silent:
		r.Holder, r.Remaining, r.Age = backend.Candidate{}, 0, 0
		return r, true, nil
	case v.held() && v.leaderLease == 0:
		r.Mode, r.Remaining = backend.Observed, v.quiet
		return r, true, nil
	case v.held():
		r.Remaining, found, err = s.remaining(ctx, v.leaderLease, s.limits.ExpiryLag)
		if r.TTL > 0 {
			r.Remaining = min(r.Remaining, r.TTL)
		}
		return r, found, err
	case v.toRev != 0 && v.toLease == 0: // by hand: it stays until somebody removes it
		r.Reserved = backend.Reservation{To: v.to, For: s.limits.MinTTL}
		return r, true, nil
	case v.toRev != 0:
		r.Reserved.To = v.to
		r.Reserved.For, found, err = s.remaining(ctx, v.toLease, s.limits.ExpiryLag)
		return r, found, err
	}
	return r, true, nil
}

// remaining is what is left of an etcd lease, rounded up to seconds: etcd tells whole ones, rounded down. One that is overdue has least left.
func (s *Store) remaining(ctx context.Context, id clientv3.LeaseID, least time.Duration) (left time.Duration, found bool, err error) {
	got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.LeaseTimeToLiveResponse, error) {
		return s.lease.TimeToLive(ctx, id)
	})
	switch {
	case err != nil:
		return 0, false, err
	case got.GrantedTTL <= 0:
		return 0, false, nil
	case got.TTL < 0:
		return least, true, nil
	}
	return min(seconds(got.TTL+1), seconds(got.GrantedTTL)), true, nil
}

// silence times leader keys that have no etcd lease, because somebody has put them by hand: nothing removes them, so they end when they haven't changed for a TTL. A living
// holder binds its key again with its next renewal.
type silence struct {
	mu   sync.Mutex
	seen map[string]mark // by election
}

type mark struct {
	rev   int64
	since time.Time
}

// observe looks whether a leader key without a lease has been silent for its TTL.
func (v *view) observe(s *silence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !v.held() || v.leaderLease != 0 {
		delete(s.seen, v.election)
		return
	}
	m, known := s.seen[v.election]
	if !known || m.rev != v.leaderRev {
		m = mark{rev: v.leaderRev, since: time.Now()}
		if s.seen == nil {
			s.seen = map[string]mark{}
		}
		s.seen[v.election] = m
	}
	ttl := v.ttl()
	if ttl == 0 {
		ttl = unknownTTL
	}
	v.quiet = max(0, ttl-time.Since(m.since))
	v.silent = v.quiet == 0
}

// unknownTTL is for a holder of whom the counter key, removed by hand, doesn't tell any more.
const unknownTTL = time.Minute
