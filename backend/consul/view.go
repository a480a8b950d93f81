package consul

import (
	"context"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// view is what was read of an election as of one moment, with the indexes by which a transaction makes sure that nothing has changed since.
type view struct {
	election     string
	leader       leader
	leaderIndex  uint64 // zero: there is no key, as for the others
	session      string // that holds the leader key; empty: none does
	beat         beat
	beatIndex    uint64
	counter      counter
	counterIndex uint64
	floor        floor // of the prefix, where it was read too
	floorIndex   uint64
	left         time.Duration // of the lease or the reservation, as far as this store has seen
}

// sign is the sign of life that challengers watch. The value is a part of it because indexes may come again when the servers' data was restored.
type sign struct {
	index uint64
	beat  beat
}

// sign is the one in v. Where somebody has removed the beat key it is the last change of the others: to have no beat is no sign by which one term is told from the next.
func (v *view) sign() sign {
	if v.beatIndex == 0 {
		return sign{index: max(v.leaderIndex, v.counterIndex)}
	}
	return sign{v.beatIndex, v.beat}
}

// look reads an election and what this store has seen of it so far.
func (s *Store) look(ctx context.Context, election string) (*view, error) {
	keys := append(s.names.all(election), s.names.floor())
	pairs, err := s.fetch(ctx, keys...)
	if err != nil {
		return nil, err
	}
	v, err := s.read(election, keys, pairs)
	if err != nil {
		return nil, err
	}
	return v, v.stand(keys[3], pairs[3])
}

// read makes a view of an election's keys.
func (s *Store) read(election string, keys []string, pairs api.KVPairs) (*view, error) {
	v := &view{
		election: election, leaderIndex: pairs[0].ModifyIndex, session: pairs[0].Session,
		beatIndex: pairs[1].ModifyIndex, counterIndex: pairs[2].ModifyIndex,
	}
	for i, value := range []any{&v.leader, &v.beat, &v.counter} {
		if pairs[i].ModifyIndex == 0 || v.leader.Version > backend.Version { // a later format may keep anything there
			continue
		}
		if err := decode(keys[i], pairs[i].Value, value); err != nil {
			return nil, err
		}
	}
	// Whatever was done to the counter, the other keys know the term's token.
	token := max(v.leader.Token, v.beat.Token)
	v.counter.Highest, v.counter.Granted = max(v.counter.Highest, token), max(v.counter.Granted, token)
	s.time(v)
	return v, nil
}

// time finds out for how long the election is out of reach for challengers. Consul tells nobody how old a key is, so only what this store has seen itself counts.
func (s *Store) time(v *view) {
	switch {
	case v.known() != nil:
	case (v.held() || v.lost()) && v.native():
		s.beats.Forget(v.election) // not by silence while its session lives
		v.left = v.ttl()
	case v.held() || v.lost():
		v.left = max(v.ttl()-s.beats.Saw(v.election, v.sign()), 0)
	case v.leader.Reserved > 0:
		v.left = max(v.leader.Reserved.span()-s.reserved.Saw(v.election, v.leaderIndex), 0)
	default:
		s.beats.Forget(v.election)
		s.reserved.Forget(v.election)
	}
}

// known tells why this release can't say more of the election than its version and where it was moved.
func (v *view) known() error {
	if v.leader.Version > backend.Version {
		return versionError(v.leader.Version)
	}
	if v.leader.MovedTo != "" {
		return movedError(v.leader.MovedTo)
	}
	return nil
}

// held reports whether the record says that its term goes on. Who holds the key is not asked: a session that was destroyed, or whose node is gone, ends no lease.
func (v *view) held() bool { return v.leader.State == held }

// lost reports that somebody removed the leader key, perhaps while a holder believes in its lease.
func (v *view) lost() bool { return v.leaderIndex == 0 && v.counter.Granted > 0 }

// native reports whether the record was written by a release in which sessions end leases.
func (v *view) native() bool {
	return v.session != "" && v.leader.Mode != backend.Beat
}

// ttl is the present one. Where the leader key is gone it is the longest that its holder may have had.
func (v *view) ttl() time.Duration {
	switch {
	case v.lost():
		return max(v.beat.TTL, v.counter.TTL).span()
	case v.beatIndex != 0 && v.beat.Attempt == v.leader.Attempt:
		return v.beat.TTL.span()
	}
	return v.leader.TTL.span()
}

// is reports whether the term in the record is that of a lease.
func (v *view) is(l backend.Lease) bool {
	return v.held() && v.leader.Holder == l.Holder && v.leader.Attempt == attempt(l.Attempt) && (l.Token == 0 || v.leader.Token == l.Token)
}

// record is what Get shows.
func (v *view) record() backend.Record {
	r := backend.Record{
		Election: v.election, Token: v.leader.Token, Counter: v.counter.Highest, Attempt: backend.Attempt(v.leader.Attempt),
		TTL: v.ttl(), Mode: v.leader.Mode, MovedTo: v.leader.MovedTo, Version: v.leader.Version,
	}
	switch {
	case v.known() != nil:
	case v.held() && v.left > 0:
		r.Holder = backend.Candidate{ID: v.leader.Holder, Description: v.leader.Description}
		r.Remaining = v.left
		r.Age = max(time.Duration(time.Now().UnixMilli()-v.leader.Granted)*time.Millisecond, 0)
		r.Renewals = v.beat.Renewals
	case v.left > 0: // reserved, or kept free because nobody knows who may hold it
		r.Reserved = backend.Reservation{To: v.leader.ReservedTo, For: v.left}
	}
	return r
}
