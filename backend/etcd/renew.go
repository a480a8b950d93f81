package etcd

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/tenure-go/tenure/backend"
)

// carrierTerms is how many terms share a carrier at most. With users and passwords each refresh costs the cluster a look at all keys of the lease, and a transaction may have 128 parts.
const carrierTerms = 120

// abreast is how many requests of one batch are under way at a time.
const abreast = 8

// Renew implements backend.LeaseStore: a batch of one.
func (s *Store) Renew(ctx context.Context, l backend.Lease) (backend.Lease, error) {
	r := s.RenewAll(ctx, []backend.Lease{l})[0]
	return r.Lease, r.Err
}

// RenewAll implements backend.BatchRenewer. It refreshes the carriers, one request for each, and then reads the leader keys, since a refresh says nothing about the keys.
func (s *Store) RenewAll(ctx context.Context, leases []backend.Lease) []backend.Renewal {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	items := make([]*item, len(leases))
	byTTL := map[int64][]*item{}
	for i, l := range leases {
		ttl := wholeSeconds(l.TTL)
		items[i] = &item{lease: l, err: s.usable(ctx)}
		if items[i].err == nil {
			byTTL[ttl] = append(byTTL[ttl], items[i])
		}
	}
	var all sync.WaitGroup
	for ttl, items := range byTTL {
		all.Go(func() { s.renew(ctx, ttl, items) })
	}
	all.Wait()
	out := make([]backend.Renewal, len(leases))
	for i, it := range items {
		out[i].Err = it.err
		if it.err == nil {
			out[i].Lease = it.lease
			out[i].Lease.AnchorAge = 0
			out[i].Lease.TTL = seconds(wholeSeconds(it.lease.TTL))
		}
	}
	return out
}

// item is one lease of a batch.
type item struct {
	lease  backend.Lease
	term   *term      // nil: this store hasn't granted or renewed it
	retime bool       // its TTL changes
	to     *carrier   // that shall carry it
	on     []*carrier // that its term is or may be on, where all of them are refreshed with this batch; else empty
	at     leader     // its leader key, if it was read and isn't on to yet
	done   bool
	err    error
}

func (i *item) open() bool { return !i.done && i.err == nil }

// renew renews leases of one TTL.
func (s *Store) renew(ctx context.Context, ttl int64, items []*item) {
	refresh := s.fleet.plan(ttl, items)
	defer s.vacate(refresh)
	each(refresh, func(c *carrier) {
		if err := s.refresh(ctx, c); err != nil {
			s.strand(c, items, err)
		}
	})
	made := s.board(ctx, ttl, items)
	defer s.vacate(made)
	s.inspect(ctx, items)
	again := s.board(ctx, ttl, items)
	defer s.vacate(again)
	s.move(ctx, items)
}

// strand deals with a carrier that was not refreshed. When it has ended, its keys have gone; one that somebody has put by hand may still be there and moves, as all do when
// the cluster has another leader.
func (s *Store) strand(c *carrier, items []*item, err error) {
	for _, it := range items {
		if slices.Contains(it.on, c) {
			it.on = nil
		}
		switch {
		case it.to != c:
		case notFound(err), errors.Is(err, errOtherLeader):
			it.to = nil
		default:
			it.err = err
		}
	}
}

// board finds a place for the terms without one, on carriers of this batch or on new ones.
func (s *Store) board(ctx context.Context, ttl int64, items []*item) (made []*carrier) {
	var c *carrier
	for _, it := range items {
		if !it.open() || it.to != nil {
			continue
		}
		if c == nil || s.fleet.size(c) >= carrierTerms {
			var err error
			if c, err = s.fresh(ctx, ttl); err != nil {
				it.err, c = err, nil
				if ctx.Err() == nil {
					continue
				}
				return made
			}
			s.fleet.claim(c)
			made = append(made, c)
		}
		it.to = c
		s.fleet.bind(it, c)
	}
	return made
}

// vacate ends this batch's use of carriers. Empty ones may carry the next term.
func (s *Store) vacate(used []*carrier) {
	for _, c := range used {
		if s.fleet.unclaim(c) {
			s.giveBack(c)
		}
	}
}

// each runs f for every element, some at a time.
func each[E any](list []E, f func(E)) {
	if len(list) == 1 {
		f(list[0])
		return
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, abreast)
	for _, e := range list {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(e)
		})
	}
	all.Wait()
}
