package consul

import (
	"context"
	"slices"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// Elections implements backend.Lister. Consul has no pages, so that each call gets the names of all leader and counter keys.
func (s *Store) Elections(ctx context.Context, after string, limit int) ([]string, error) {
	var page []string
	seen := false
	for _, folder := range []string{s.names.leaders(), s.names.counters()} {
		keys, err := s.keys(ctx, folder)
		if err != nil {
			return nil, err
		}
		seen = seen || len(keys) > 0
		for _, key := range keys {
			if name, ok := election(key); ok && name > after {
				page = append(page, name)
			}
		}
	}
	if !seen { // the server leaves out what the token may not read
		if _, err := s.fetch(ctx, s.names.floor()); err != nil {
			return nil, err
		}
	}
	slices.Sort(page)
	page = slices.Compact(page)
	return page[:min(len(page), limit)], nil
}

// keys lists the keys of a folder.
func (s *Store) keys(ctx context.Context, folder string) ([]string, error) {
	ctx, done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	keys, _, err := s.client.KV().Keys(folder, "", (&api.QueryOptions{RequireConsistent: true}).WithContext(ctx))
	return keys, explain(err)
}

// Forget implements backend.Forgetter. A leader key that somebody has removed keeps the election closed here as in Acquire.
func (s *Store) Forget(ctx context.Context, r backend.Record) error {
	return s.settle(ctx, r.Election, func(v *view) error {
		switch err := v.known(); {
		case v.leaderIndex == 0 && v.beatIndex == 0 && v.counterIndex == 0:
			return nil
		case err != nil:
			return err
		case v.left > 0:
			return &backend.HeldError{Record: v.record()}
		case v.counter.Highest != r.Counter || v.leader.Attempt != attempt(r.Attempt):
			return backend.ErrOutdated
		}
		return s.remove(ctx, v)
	})
}

// remove deletes an election's keys if they are as they were seen, and lifts the floor above its tokens.
func (s *Store) remove(ctx context.Context, v *view) error {
	raised := floor{Highest: max(v.floor.Highest, v.counter.Highest), Forgotten: v.floor.Forgotten + 1}
	ops := []*api.KVTxnOp{swap(s.names.floor(), v.floorIndex, raised)}
	for i, index := range []uint64{v.leaderIndex, v.beatIndex, v.counterIndex} {
		key := s.names.all(v.election)[i]
		ops = append(ops, expect(key, index))
		if index != 0 {
			ops = append(ops, &api.KVTxnOp{Verb: api.KVDeleteCAS, Key: key, Index: index})
		}
	}
	if _, err := s.apply(ctx, ops...); err != nil {
		return err
	}
	s.beats.Forget(v.election)
	s.reserved.Forget(v.election)
	return nil
}
