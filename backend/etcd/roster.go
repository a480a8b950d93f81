package etcd

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// listing is the value of a roster's key. The candidate's ID is in there too, so that nothing has to be read from the key.
type listing struct {
	Candidate   string              `json:"candidate"`
	Description backend.Description `json:"description"`
	Note        string              `json:"note,omitempty"`
	TTL         int64               `json:"ttl_seconds"`
}

// roster is which etcd leases this store has listed candidates on: one for each entry, since each has its own end. The second rule of carriers, about former leaders of the cluster, is not
// needed: an entry that ends early is listed again with the next Enlist, and decides nothing meanwhile.
type roster struct {
	mu      sync.Mutex
	on      map[string]berth // by key
	pruneAt int
}

// berth is the etcd lease of an entry.
type berth struct {
	id    clientv3.LeaseID
	ttl   int64 // seconds that were asked for
	rev   int64 // of the key, when it was put there
	until time.Time
}

// Enlist implements backend.Roster. A repeat that changes nothing writes nothing: it refreshes the entry's etcd lease, and reads the key after that.
func (s *Store) Enlist(ctx context.Context, e backend.Entry) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	key, ttl := s.names.listing(e.Election, e.Candidate.ID), wholeSeconds(e.TTL)
	text, err := json.Marshal(listing{Candidate: e.Candidate.ID, Description: e.Candidate.Description, Note: e.Note, TTL: ttl})
	if err != nil {
		return err
	}
	b, err := s.berth(ctx, key, ttl)
	if err != nil {
		return err
	}
	for {
		old, err := s.listed(ctx, key)
		if err != nil {
			return err
		}
		if rev := old.ModRevision; rev == 0 || clientv3.LeaseID(old.Lease) != b.id || string(old.Value) != string(text) {
			put := clientv3.OpPut(key, string(text), clientv3.WithLease(b.id))
			if b.rev, err = s.swap(ctx, key, rev, put); err != nil {
				return err
			}
			if b.rev == 0 {
				continue
			}
		}
		s.berthed(key, b)
		return nil
	}
}

// listed reads a roster's key. A mod revision of zero means that it isn't there.
func (s *Store) listed(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.GetResponse, error) { return s.kv.Get(ctx, key) })
	if err != nil {
		return nil, err
	}
	if len(got.Kvs) == 0 {
		return &mvccpb.KeyValue{}, nil
	}
	return got.Kvs[0], nil
}

// swap does op if a key is as it was read, and returns the revision of that, or zero when the key has changed.
func (s *Store) swap(ctx context.Context, key string, rev int64, op clientv3.Op) (int64, error) {
	got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.TxnResponse, error) {
		return s.kv.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).Then(op).Commit()
	})
	if err != nil || !got.Succeeded {
		return 0, err
	}
	return got.Header.Revision, nil
}

// berth is the etcd lease that this store has an entry on, refreshed, or a new one. The server makes one that is shorter than its least longer: so it does to the entry.
func (s *Store) berth(ctx context.Context, key string, ttl int64) (berth, error) {
	s.roster.mu.Lock()
	b, known := s.roster.on[key]
	s.roster.mu.Unlock()
	if known && b.ttl == ttl {
		_, err := s.keepAlive(ctx, b.id)
		if err == nil || !notFound(err) {
			return b, err
		}
	}
	got, err := s.lend(ctx, ttl)
	if err != nil {
		return berth{}, err
	}
	return berth{id: got.ID, ttl: ttl}, nil
}

// berthed notes where an entry is, and ends the etcd lease on which it was before. The later of two calls at once has the last word.
func (s *Store) berthed(key string, b berth) {
	r := &s.roster
	b.until = time.Now().Add(2*seconds(b.ttl) + time.Minute)
	r.mu.Lock()
	old := r.on[key]
	if old.rev > b.rev {
		old, b = b, old
	}
	r.prune()
	r.on[key] = b
	r.mu.Unlock()
	if old.id != 0 && old.id != b.id {
		s.revoke(old.id)
	}
}

// prune drops entries which have ended since nobody has repeated them; callers hold mu.
func (r *roster) prune() {
	if r.on == nil {
		r.on = map[string]berth{}
	}
	if len(r.on) < r.pruneAt {
		return
	}
	for key, b := range r.on {
		if time.Now().After(b.until) {
			delete(r.on, key)
		}
	}
	r.pruneAt = 2*len(r.on) + 64
}

// Delist implements backend.Roster.
func (s *Store) Delist(ctx context.Context, election, candidate string) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	key := s.names.listing(election, candidate)
	for {
		old, err := s.listed(ctx, key)
		if err != nil {
			return err
		}
		gone := old.ModRevision == 0
		if !gone {
			rev, err := s.swap(ctx, key, old.ModRevision, clientv3.OpDelete(key))
			if err != nil {
				return err
			}
			gone = rev != 0
		}
		if gone {
			s.unberth(key)
			return nil
		}
	}
}

// unberth ends the etcd lease of an entry that is gone.
func (s *Store) unberth(key string) {
	s.roster.mu.Lock()
	b, known := s.roster.on[key]
	delete(s.roster.on, key)
	s.roster.mu.Unlock()
	if known {
		s.revoke(b.id)
	}
}

// Candidates implements backend.Roster. What isn't an entry is left out.
func (s *Store) Candidates(ctx context.Context, election string) ([]backend.Entry, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	list := s.names.list(election)
	got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.GetResponse, error) { return s.kv.Get(ctx, list, below(list)) })
	if err != nil {
		return nil, err
	}
	var entries []backend.Entry
	for _, kv := range got.Kvs {
		var l listing
		if json.Unmarshal(kv.Value, &l) == nil && string(kv.Key) == s.names.listing(election, l.Candidate) {
			c := backend.Candidate{ID: l.Candidate, Description: l.Description}
			entries = append(entries, backend.Entry{Election: election, Candidate: c, Note: l.Note, TTL: seconds(l.TTL)})
		}
	}
	slices.SortFunc(entries, func(a, b backend.Entry) int { return strings.Compare(a.Candidate.ID, b.Candidate.ID) })
	return entries, nil
}
