package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// carrier is an etcd lease which leader keys are bound to. One rule keeps every term to its own TTL: a carrier is refreshed only by a call that renews, or claims, every term
// which may be on it. So a term that is no longer renewed ends a TTL after its last own renewal, whoever else shared its carrier: the others are moved to another first.
//
// The second rule: nothing is renewed on a carrier that was granted under an earlier leader of the cluster. A member that has led and was frozen may, when it goes on, revoke
// what it takes for expired (etcd#15247; its check in the server leaves a gap), however fresh the present leader knows it to be. It doesn't know carriers which were granted
// since, so that terms move to one with the first renewal after the cluster has elected another leader.
type carrier struct {
	id      clientv3.LeaseID
	ttl     int64          // seconds
	era     uint64         // the raft term that was seen before it was granted
	terms   map[*term]bool // that are or may be bound to it
	guests  int            // terms that are about to be moved to it and aren't known yet
	busy    bool           // a call is refreshing it
	unclear bool           // a term that isn't known may be moved to it late: it is never used again
}

// term is a lease that this store has granted or renewed.
type term struct {
	key     termKey
	holder  string
	token   int64
	ttl     int64
	on      []*carrier // where its leader key is, or may be while a move's outcome is unknown
	rev     int64      // the latest mod revision of its leader key that was seen
	pending int64      // the mod revision that a move of unknown outcome compares with; zero: none
	renewed time.Time
}

type termKey struct {
	election string
	attempt  backend.Attempt
}

// fleet is all carriers and terms of a store.
type fleet struct {
	mu      sync.Mutex
	terms   map[termKey]*term
	spares  map[int64]*carrier // at most one for each TTL: without terms, to be refreshed before it is used
	pruneAt int
	full    bool // the server has no room for writes
	closed  bool
}

func newFleet() *fleet {
	return &fleet{terms: map[termKey]*term{}, spares: map[int64]*carrier{}, pruneAt: 64}
}

// fresh returns a carrier without terms that was granted or refreshed within this call.
func (s *Store) fresh(ctx context.Context, ttl int64) (*carrier, error) {
	if c := s.fleet.spare(ttl); c != nil {
		err := s.refresh(ctx, c)
		switch {
		case err == nil:
			return c, nil
		case errors.Is(err, errOtherLeader):
			s.revoke(c.id)
		case !notFound(err):
			s.fleet.keep(c)
			return nil, err
		}
	}
	era := s.era.Load()
	id, err := s.grant(ctx, ttl)
	if err != nil {
		return nil, err
	}
	return &carrier{id: id, ttl: ttl, era: era, terms: map[*term]bool{}}, nil
}

// errOtherLeader says that a carrier was granted under an earlier leader of the cluster.
var errOtherLeader = errors.New("the cluster has elected another leader since the etcd lease was granted")

// note keeps the raft term that an answer tells.
func (s *Store) note(h *pb.ResponseHeader) {
	for {
		seen := s.era.Load()
		if h.GetRaftTerm() <= seen || s.era.CompareAndSwap(seen, h.GetRaftTerm()) {
			return
		}
	}
}

// grant makes an etcd lease of ttl seconds, no more.
func (s *Store) grant(ctx context.Context, ttl int64) (clientv3.LeaseID, error) {
	got, err := s.lend(ctx, ttl)
	if err != nil {
		return 0, err
	}
	if got.TTL > ttl {
		s.revoke(got.ID)
		return 0, fmt.Errorf("%w: TTL %v is outside of what this server can keep, %v to %v", backend.ErrInvalid, seconds(ttl), seconds(got.TTL), s.limits.MaxTTL)
	}
	return got.ID, nil
}

// lend makes an etcd lease of ttl seconds, or of the server's least. A repeat after an answer was lost leaves one behind that nobody refreshes.
func (s *Store) lend(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.LeaseGrantResponse, error) { return s.lease.Grant(ctx, ttl) })
	if err == nil {
		s.note(got.ResponseHeader)
	}
	return got, err
}

// refresh gives a carrier its whole TTL again. It fails with an error that notFound recognises when the carrier has ended, and with errOtherLeader when nothing may be renewed
// on it any more.
func (s *Store) refresh(ctx context.Context, c *carrier) error {
	got, err := s.keepAlive(ctx, c.id)
	if err == nil && got.Header.GetRaftTerm() != c.era {
		return errOtherLeader
	}
	return err
}

// revoke ends an etcd lease that nothing needs, behind the call. If it fails the lease ends by itself.
func (s *Store) revoke(id clientv3.LeaseID) {
	s.behind(func(ctx context.Context) { _, _ = s.lease.Revoke(ctx, id) })
}

// giveBack keeps a carrier without terms for the next claim, or revokes it.
func (s *Store) giveBack(c *carrier) {
	if c != nil && !s.fleet.keep(c) {
		s.revoke(c.id)
	}
}

func (f *fleet) spare(ttl int64) *carrier {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.spares[ttl]
	delete(f.spares, ttl)
	return c
}

// keep makes c the spare of its TTL, unless there is one.
func (f *fleet) keep(c *carrier) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || c.unclear || f.spares[c.ttl] != nil {
		return false
	}
	f.spares[c.ttl] = c
	return true
}

// settle notes that a term is on c and nowhere else, as an answer has said. It returns the carriers that have become empty.
//
// rev is the leader key's mod revision in that answer: where a later one was seen, this answer says nothing any more.
func (f *fleet) settle(l backend.Lease, c *carrier, rev int64) (empty []*carrier) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.terms[keyOf(l)]
	if t == nil {
		f.prune()
		t = &term{key: keyOf(l), holder: l.Holder, token: l.Token}
		f.terms[t.key] = t
	}
	f.join(t, c)
	t.renewed = time.Now()
	if rev < t.rev {
		return nil
	}
	t.ttl, t.pending, t.rev = c.ttl, 0, rev
	return f.leave(t, c)
}

// leave takes a term off all carriers but one; callers hold mu.
func (f *fleet) leave(t *term, stays *carrier) (empty []*carrier) {
	on := t.on
	t.on = nil
	for _, c := range on {
		if c == stays {
			t.on = append(t.on, c)
			continue
		}
		delete(c.terms, t)
		if len(c.terms) == 0 && !c.busy {
			empty = append(empty, c)
		}
	}
	return empty
}

// forget drops a term that has ended for certain.
func (f *fleet) forget(l backend.Lease) (empty []*carrier) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.terms[keyOf(l)]
	if t == nil {
		return nil
	}
	delete(f.terms, t.key)
	return f.leave(t, nil)
}

// pending is the mod revision at which a move of unknown outcome may still take t to another carrier.
func (f *fleet) pending(t *term) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return t.pending
}

// prune drops terms that nobody has renewed for so long that they have ended; callers hold mu.
func (f *fleet) prune() {
	if len(f.terms) < f.pruneAt {
		return
	}
	for key, t := range f.terms {
		if time.Since(t.renewed) > 2*seconds(t.ttl)+time.Minute {
			delete(f.terms, key)
			f.leave(t, nil)
		}
	}
	f.pruneAt = 2*len(f.terms) + 64
}

func keyOf(l backend.Lease) termKey { return termKey{election: l.Election, attempt: l.Attempt} }

// wholeSeconds rounds up to etcd's unit.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
