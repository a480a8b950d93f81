package etcd

import (
	"context"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// inspect reads the leader keys of the terms that this store knows. Those on a carrier which was refreshed before are renewed.
func (s *Store) inspect(ctx context.Context, items []*item) {
	known := slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return !it.open() || it.term == nil || it.retime })
	each(slices.Collect(slices.Chunk(known, carrierTerms)), func(part []*item) {
		found, era, err := s.leaders(ctx, part)
		for i, it := range part {
			if err != nil {
				it.err = err
				continue
			}
			s.inspectOne(it, found[i], era)
		}
	})
}

// leader is a leader key as it was read. A rev of zero means that it isn't there.
type leader struct {
	value string
	rev   int64
	lease clientv3.LeaseID
}

// leaders reads leader keys in one request, and tells the raft term of the answer.
func (s *Store) leaders(ctx context.Context, items []*item) (found []leader, era uint64, err error) {
	gets := make([]clientv3.Op, len(items))
	for i, it := range items {
		gets[i] = clientv3.OpGet(s.names.leader(it.lease.Election))
	}
	got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.TxnResponse, error) { return s.kv.Txn(ctx).Then(gets...).Commit() })
	if err != nil {
		return nil, 0, err
	}
	s.note(got.Header)
	found = make([]leader, len(items))
	for i, r := range got.Responses {
		if i < len(found) {
			for _, kv := range r.GetResponseRange().GetKvs() {
				found[i] = leader{string(kv.Value), kv.ModRevision, clientv3.LeaseID(kv.Lease)}
			}
		}
	}
	return found, got.Header.GetRaftTerm(), nil
}

// inspectOne judges a term by its leader key, which was read after its carrier was refreshed. When the raft term is still the carrier's, the leader that has refreshed it led
// until then.
func (s *Store) inspectOne(it *item, found leader, era uint64) {
	switch {
	case found.rev == 0 || found.value != identity(it.lease):
		it.err = backend.ErrNotHeld
		s.ended(it.lease)
	case it.to.era != era:
		it.at, it.to = found, nil
	case found.lease == it.to.id && found.rev != s.fleet.pending(it.term): // nothing under way can take it off again
		it.done = true
		s.settled(it, found.rev)
	case slices.ContainsFunc(it.on, func(c *carrier) bool { return c.id == found.lease }): // wherever it may be taken was refreshed too
		it.done = true
	default:
		it.at = found
	}
}

// settled notes where a renewed term is.
func (s *Store) settled(it *item, rev int64) {
	for _, c := range s.fleet.settle(it.lease, it.to, rev) {
		s.fleet.keep(c) // or it ends by itself
	}
}

// move puts leader keys on other carriers: those of one carrier in one transaction, and one by one what that refuses or what isn't known well enough.
func (s *Store) move(ctx context.Context, items []*item) {
	var together []*item
	var single []*item
	for _, it := range items {
		switch {
		case !it.open():
		case it.term != nil && it.at.rev != 0:
			together = append(together, it)
		default:
			single = append(single, it)
		}
	}
	if len(together) > 0 && !s.moveTogether(ctx, together) {
		single = append(single, slices.DeleteFunc(together, func(it *item) bool { return !it.open() })...)
	}
	each(single, func(it *item) { it.err = s.moveOne(ctx, it) })
}

// moveTogether moves known terms if none of their keys has changed since it was read.
func (s *Store) moveTogether(ctx context.Context, items []*item) (all bool) {
	all = true
	for part := range slices.Chunk(items, carrierTerms) {
		var unchanged []clientv3.Cmp
		var puts []clientv3.Op
		for _, it := range part {
			key := s.names.leader(it.lease.Election)
			unchanged = append(unchanged, clientv3.Compare(clientv3.ModRevision(key), "=", it.at.rev))
			puts = append(puts, clientv3.OpPut(key, it.at.value, clientv3.WithLease(it.to.id)))
		}
		got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.TxnResponse, error) {
			return s.kv.Txn(ctx).If(unchanged...).Then(puts...).Commit()
		})
		for _, it := range part {
			switch {
			case err != nil:
				s.fleet.doubt(it, it.to, it.at.rev)
				it.err = s.refusedMove(err)
			case got.Succeeded:
				it.done = true
				s.settled(it, got.Header.Revision)
			default:
				all = false
			}
		}
	}
	return all
}

// refusedMove notes that the server takes no writes, so that the next renewal does without.
func (s *Store) refusedMove(err error) error {
	if is(err, rpctypes.ErrNoSpace) {
		s.fleet.setFull(true)
	}
	return err
}

// moveOne renews a lease by putting its leader key on another carrier. It changes the TTL in the record if that is another one.
func (s *Store) moveOne(ctx context.Context, it *item) error {
	l := it.lease
	var last error
	for {
		v, err := s.read(ctx, l.Election)
		if err != nil {
			return orLast(err, last)
		}
		if !v.held() || v.leader != identity(l) || v.entry.Holder != l.Holder {
			s.over(v, l)
			return fmt.Errorf("%w: %s", backend.ErrNotHeld, v.whose())
		}
		e := v.ground()
		e.TTL = it.to.ttl
		rev := v.leaderRev
		if v.leaderLease != it.to.id || e != v.entry || last == nil { // else the transaction before was applied
			rev, err = s.put(ctx, v, e, it.to)
		}
		if err == nil && rev != 0 {
			it.done = true
			s.settled(it, rev)
			return nil
		}
		if err != nil {
			s.fleet.doubt(it, it.to, v.leaderRev)
			if final(err) {
				return s.refusedMove(err)
			}
			last = err
		}
	}
}

// whose tells who has the election, for the error of one who has lost it.
func (v *view) whose() string {
	if !v.held() {
		return "nobody holds the election"
	}
	return "it is held by " + v.entry.Holder
}
