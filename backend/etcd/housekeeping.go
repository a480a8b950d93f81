package etcd

import (
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// keysAtATime is how many names of keys one request of a list reads.
const keysAtATime = 2000

// Elections implements backend.Lister. Escaped names have another order than the names, so that each page goes through the names of all keys, and keeps its own.
func (s *Store) Elections(ctx context.Context, after string, limit int) ([]string, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var page []string
	for from := s.names.root; ; {
		got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.GetResponse, error) {
			return s.kv.Get(ctx, from, s.names.elections(), clientv3.WithKeysOnly(), clientv3.WithLimit(keysAtATime))
		})
		if err != nil {
			return nil, err
		}
		for _, kv := range got.Kvs {
			if name, ok := s.names.election(string(kv.Key)); ok && name > after {
				page = append(page, name)
			}
			from = string(kv.Key) + "\x00"
		}
		slices.Sort(page)
		page = slices.Compact(page) // of the leader and the counter key
		page = page[:min(len(page), limit)]
		if !got.More {
			return page, nil
		}
	}
}

// Forget implements backend.Forgetter.
func (s *Store) Forget(ctx context.Context, r backend.Record) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	var last error
	for {
		v, err := s.read(ctx, r.Election)
		if err != nil {
			return orLast(err, last)
		}
		v.observe(&s.silence)
		if gone, err := s.forgettable(ctx, v, r); gone || err != nil {
			return err
		}
		done, err := s.remove(ctx, v)
		if done || err != nil && final(err) {
			return err
		}
		last = err
	}
}

// forgettable tells why an election can't be forgotten, or that there is nothing to forget.
func (s *Store) forgettable(ctx context.Context, v view, r backend.Record) (gone bool, err error) {
	switch err := v.entry.usable(); {
	case v.leaderRev == 0 && v.counterRev == 0 && v.toRev == 0:
		return true, nil
	case err != nil:
		return false, err
	case v.held() && !v.silent, v.toRev != 0:
		return false, s.heldError(ctx, v)
	case v.entry.Counter != r.Counter || !v.is(r.Attempt) && (v.entry.Attempt != "" || !r.Attempt.IsZero()):
		return false, backend.ErrOutdated
	}
	return false, nil
}

// remove deletes the keys of an election if nothing of it has changed since v was read, and lifts the floor above its tokens.
func (s *Store) remove(ctx context.Context, v view) (done bool, err error) {
	v.forget = true
	raised, op := v.floor.raise(s.names, v.entry.Counter)
	n := v.election
	raised.rev, err = s.commit(ctx, v, []clientv3.Op{
		clientv3.OpDelete(s.names.leader(n)), clientv3.OpDelete(s.names.counter(n)), clientv3.OpDelete(s.names.reserved(n)), op,
	})
	if raised.rev == 0 || err != nil {
		return false, err
	}
	s.floor.set(raised)
	return true, nil
}
