package etcd

import (
	"context"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// Acquire implements backend.LeaseStore. What it grants is bound to a carrier that was granted or refreshed within the call and carries nothing else. When the call ends
// without knowing, that carrier is never refreshed again, so that a grant which comes late ends within a TTL.
func (s *Store) Acquire(ctx context.Context, c backend.Claim) (backend.Lease, error) {
	if err := s.usable(ctx); err != nil {
		return backend.Lease{}, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	a := &acquisition{s: s, claim: c, ttl: wholeSeconds(c.TTL)}
	l, err := a.run(ctx)
	if err != nil && !a.unclear {
		s.giveBack(a.carrier)
	}
	return l, err
}

// acquisition is one call of Acquire.
type acquisition struct {
	s       *Store
	claim   backend.Claim
	ttl     int64
	carrier *carrier // nil until it is needed
	unclear bool     // the outcome of a transaction isn't known
}

func (a *acquisition) run(ctx context.Context) (backend.Lease, error) {
	var last error
	for {
		v, err := a.s.read(ctx, a.claim.Election)
		if err != nil {
			return backend.Lease{}, orLast(err, last)
		}
		v.observe(&a.s.silence)
		own, err := a.s.judge(ctx, v, a.claim)
		if err != nil {
			return backend.Lease{}, err
		}
		if own && a.carrier != nil && v.leaderLease == a.carrier.id && v.entry.TTL == a.ttl { // a transaction of this call was applied, though no answer said so
			return a.granted(v.entry.Token, v.leaderRev), nil
		}
		e := v.ground()
		if own {
			e.TTL = a.ttl
		} else if e, err = a.entry(v); err != nil {
			return backend.Lease{}, err
		}
		if a.carrier == nil {
			if a.carrier, err = a.s.fresh(ctx, a.ttl); err != nil {
				return backend.Lease{}, err
			}
		}
		rev, err := a.s.put(ctx, v, e, a.carrier)
		if rev != 0 {
			return a.granted(e.Token, rev), nil
		}
		if err != nil {
			a.unclear, last = true, err
			if final(err) {
				return backend.Lease{}, err
			}
		}
	}
}

// orLast prefers the error that says why the outcome isn't known.
func orLast(err, last error) error {
	if last != nil {
		return last
	}
	return err
}

// entry is the record of a new grant on the ground of v.
func (a *acquisition) entry(v view) (entry, error) {
	token, ok := backend.NextToken(v.ground().Counter, a.claim.Floor, 0)
	if !ok {
		return entry{}, fmt.Errorf("%w: the election has used up its tokens", backend.ErrInvalid)
	}
	return entry{
		Version: backend.Version, Counter: token, Holder: a.claim.Candidate.ID, Description: a.claim.Candidate.Description,
		Token: token, Attempt: a.claim.Attempt.String(), TTL: a.ttl, Granted: time.Now().UnixMilli(),
	}, nil
}

// put writes a term's keys with the leader key on c, if nothing of the election has changed since v was read. Whatever else was meant to be written on the ground of v then fails.
func (s *Store) put(ctx context.Context, v view, e entry, c *carrier) (rev int64, err error) {
	n := v.election
	then := []clientv3.Op{clientv3.OpPut(s.names.leader(n), e.identity(), clientv3.WithLease(c.id))}
	if e != v.entry || v.counterRev == 0 {
		then = append(then, clientv3.OpPut(s.names.counter(n), e.encode()))
	}
	if v.toRev != 0 {
		then = append(then, clientv3.OpDelete(s.names.reserved(n)))
	}
	return s.commit(ctx, v, then)
}

// commit makes changes if nothing of the election has changed since v was read, and returns their revision, or zero when something has. An error leaves open whether they
// were made. An election without a counter may have been forgotten since: then the floor has changed, which is read anew with the refusal.
func (s *Store) commit(ctx context.Context, v view, then []clientv3.Op) (rev int64, err error) {
	n := v.election
	unchanged := []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(s.names.leader(n)), "=", v.leaderRev),
		clientv3.Compare(clientv3.ModRevision(s.names.counter(n)), "=", v.counterRev),
		clientv3.Compare(clientv3.ModRevision(s.names.reserved(n)), "=", v.toRev),
	}
	var otherwise []clientv3.Op
	if v.counterRev == 0 || v.forget {
		unchanged = append(unchanged, v.floor.unchanged(s.names))
		otherwise = append(otherwise, clientv3.OpGet(s.names.floor()))
	}
	got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return s.kv.Txn(ctx).If(unchanged...).Then(then...).Else(otherwise...).Commit()
	})
	if err != nil {
		return 0, err
	}
	s.note(got.Header)
	if !got.Succeeded {
		return 0, s.floor.learn(got)
	}
	return got.Header.Revision, nil
}

func (a *acquisition) granted(token, rev int64) backend.Lease {
	l := backend.Lease{
		Election: a.claim.Election, Holder: a.claim.Candidate.ID, Token: token, Attempt: a.claim.Attempt, TTL: seconds(a.ttl),
	}
	a.s.fleet.setFull(false)
	for _, c := range a.s.fleet.settle(l, a.carrier, rev) {
		a.s.giveBack(c)
	}
	return l
}

// judge applies the rules of S1 to S3 to a claim, in their order. own says that the attempt's lease lives.
func (s *Store) judge(ctx context.Context, v view, c backend.Claim) (own bool, err error) {
	e := v.entry
	if err := e.usable(); err != nil {
		return false, err
	}
	if !backend.FloorInRange(c.Floor, e.Counter, time.Now()) {
		return false, fmt.Errorf("%w: the floor %d is far above the counter %d", backend.ErrInvalid, c.Floor, e.Counter)
	}
	switch mine := e.Holder == c.Candidate.ID; {
	case v.held() && mine && v.is(c.Attempt):
		return true, nil // a repeat of the call that was granted
	case v.held() && !v.silent && (!mine || !slices.ContainsFunc(c.Abandoned, v.is)):
		return false, s.heldError(ctx, v)
	case !v.held() && v.is(c.Attempt):
		return false, fmt.Errorf("%w: this attempt has had its term", backend.ErrNotHeld)
	case !v.held() && v.toRev != 0 && v.to != c.Candidate.ID:
		return false, s.heldError(ctx, v)
	}
	if c.Seen.Known && c.Seen.Counter != e.Counter {
		return false, backend.ErrOutdated
	}
	return false, nil
}

func (e entry) usable() error {
	if e.Version > backend.Version {
		return fmt.Errorf("%w: version %d", backend.ErrVersion, e.Version)
	}
	if e.MovedTo != "" {
		return fmt.Errorf("%w to %s", backend.ErrMoved, e.MovedTo)
	}
	return nil
}

// heldError tells who stands in the way of a claim. Who watches the election is told of the lease's end, so that the remaining time, which takes a request of its own, may be
// an upper bound.
func (s *Store) heldError(ctx context.Context, v view) error {
	if v.held() && v.leaderLease != 0 && s.watch.follows(s.names.base(v.election)) {
		r := v.record()
		r.Remaining = r.TTL
		return &backend.HeldError{Record: r}
	}
	r, err := s.describe(ctx, v)
	if err != nil {
		return err
	}
	return &backend.HeldError{Record: r}
}
