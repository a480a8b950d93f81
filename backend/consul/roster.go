package consul

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// rosterTTL is the life of the session of entries, the shortest that servers take by default. They may let it live for twice as long: backend.RosterLag.
const rosterTTL = 10 * time.Second

// listing is the value of a roster's key. The candidate's ID is in there too, so that nothing has to be read from the key.
type listing struct {
	Candidate   string              `json:"candidate"`
	Description backend.Description `json:"description,omitzero"`
	Note        string              `json:"note,omitempty"`
	TTL         millis              `json:"ttl_ms"`
	Mark        uint64              `json:"mark"` // another one when the entry is listed anew: Consul skips a write of the value that is there
}

// roster is the entries that this store has listed, under a session of their own which takes them along when it ends. So the entries of a process that is gone vanish with its session; of
// one that lives, those whose time is up are removed before the session is renewed, or it isn't.
type roster struct {
	store   *Store
	session *session

	mu     sync.Mutex
	listed map[string]place // by key
}

// place is an entry as this store has listed it.
type place struct {
	mark  uint64
	until time.Time
}

func newRoster(s *Store) *roster {
	r := &roster{store: s, listed: map[string]place{}}
	r.session = newSession(s.client, s.timeout, api.SessionEntry{Name: "tenure roster", TTL: rosterTTL.String(), Behavior: api.SessionBehaviorDelete})
	r.session.pause, r.session.tend = rosterTTL/3, r.sweep
	return r
}

// Enlist implements backend.Roster. A repeat that changes nothing writes nothing.
func (s *Store) Enlist(ctx context.Context, e backend.Entry) error {
	key := s.names.listing(e.Election, e.Candidate.ID)
	last := errors.New("its time is up before it is listed")
	for range rounds {
		mark := s.roster.begin(key, e.TTL)
		text := encode(listing{Candidate: e.Candidate.ID, Description: e.Candidate.Description, Note: e.Note, TTL: inMillis(e.TTL), Mark: mark})
		pairs, err := s.fetch(ctx, key)
		if err != nil {
			return err
		}
		id, err := s.roster.session.use(ctx)
		if err != nil {
			return err
		}
		if ops := listed(pairs[0], text, id); ops != nil {
			_, err = s.apply(ctx, ops...)
		}
		switch {
		case err == nil && s.roster.begin(key, e.TTL) == mark: // its time is that of the answer, at the earliest
			return nil
		case err != nil:
			_ = s.roster.session.refused(err, id)
			if last = err; !changed(err) {
				return err
			}
		}
	}
	return fmt.Errorf("%w: %w", errContended, last)
}

// listed is what makes a key as it was read an entry under a session; nothing where it is one.
func listed(pair *api.KVPair, text []byte, id string) []*api.KVTxnOp {
	if pair.ModifyIndex != 0 && pair.Session == id && bytes.Equal(pair.Value, text) {
		return nil
	}
	ops := []*api.KVTxnOp{expect(pair.Key, pair.ModifyIndex)}
	if pair.Session != "" && pair.Session != id {
		ops = append(ops, &api.KVTxnOp{Verb: api.KVDeleteCAS, Key: pair.Key, Index: pair.ModifyIndex})
	}
	return append(ops, &api.KVTxnOp{Verb: api.KVLock, Key: pair.Key, Value: text, Session: id})
}

// begin notes that an entry lives for its time from now on, and returns its mark. One that isn't listed any more to the eyes of this store gets another one, so that a removal which is
// under way doesn't concern it.
func (r *roster) begin(key string, ttl time.Duration) (mark uint64) {
	r.session.needs(key, ttl) // before its session is asked for
	r.mu.Lock()
	defer r.mu.Unlock()
	p, known := r.listed[key]
	if !known {
		p.mark = rand.Uint64() | 1
	}
	p.until = time.Now().Add(ttl)
	r.listed[key] = p
	return p.mark
}

// sweep removes the entries whose time is up, unless others have replaced them.
func (r *roster) sweep(ctx context.Context) error {
	overdue := r.overdue()
	keys := slices.Collect(maps.Keys(overdue))
	for part := range slices.Chunk(keys, batch) {
		if err := r.store.delist(ctx, overdue, part...); err != nil {
			r.restore(overdue)
			return err
		}
		for _, key := range part {
			delete(overdue, key)
		}
	}
	return nil
}

// overdue takes out the entries whose time is up.
func (r *roster) overdue() map[string]place {
	r.mu.Lock()
	defer r.mu.Unlock()
	overdue := map[string]place{}
	for key, p := range r.listed {
		if time.Now().After(p.until) {
			overdue[key] = p
			delete(r.listed, key)
		}
	}
	return overdue
}

// restore takes entries back that couldn't be removed.
func (r *roster) restore(overdue map[string]place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, p := range overdue {
		if _, again := r.listed[key]; !again {
			r.listed[key] = p
		}
	}
}

// Delist implements backend.Roster.
func (s *Store) Delist(ctx context.Context, election, candidate string) error {
	key := s.names.listing(election, candidate)
	if err := s.delist(ctx, nil, key); err != nil {
		return err
	}
	s.roster.mu.Lock()
	defer s.roster.mu.Unlock()
	delete(s.roster.listed, key)
	s.roster.session.over(key)
	return nil
}

// delist removes keys of rosters; of those with a mark in only, what bears that mark.
func (s *Store) delist(ctx context.Context, only map[string]place, keys ...string) error {
	var last error
	for range rounds {
		pairs, err := s.fetch(ctx, keys...)
		if err != nil {
			return err
		}
		var ops []*api.KVTxnOp
		for _, pair := range pairs {
			if pair.ModifyIndex != 0 && bears(pair, only[pair.Key].mark) {
				ops = append(ops, &api.KVTxnOp{Verb: api.KVDeleteCAS, Key: pair.Key, Index: pair.ModifyIndex})
			}
		}
		if len(ops) == 0 {
			return nil
		}
		if _, last = s.apply(ctx, ops...); !changed(last) {
			return last
		}
	}
	return fmt.Errorf("%w: %w", errContended, last)
}

// bears reports whether a key's value has the mark; zero stands for any value.
func bears(pair *api.KVPair, mark uint64) bool {
	var l listing
	return mark == 0 || decode(pair.Key, pair.Value, &l) == nil && l.Mark == mark
}

// Candidates implements backend.Roster. A key that no session holds, and what isn't an entry, is left out.
func (s *Store) Candidates(ctx context.Context, election string) ([]backend.Entry, error) {
	pairs, err := s.tree(ctx, s.names.list(election))
	if err != nil {
		return nil, err
	}
	var entries []backend.Entry
	for _, pair := range pairs {
		var l listing
		if pair.Session == "" || decode(pair.Key, pair.Value, &l) != nil || pair.Key != s.names.listing(election, l.Candidate) {
			continue
		}
		c := backend.Candidate{ID: l.Candidate, Description: l.Description}
		entries = append(entries, backend.Entry{Election: election, Candidate: c, Note: l.Note, TTL: l.TTL.span()})
	}
	slices.SortFunc(entries, func(a, b backend.Entry) int { return strings.Compare(a.Candidate.ID, b.Candidate.ID) })
	return entries, nil
}
