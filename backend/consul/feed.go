package consul

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/internal/wakeup"
)

// feed is what keeps a hub's watches informed.
//
// One blocking query waits for changes of the leader keys, of which there are few: grants, releases, lost sessions. They wake the watches at once. The other waits for beats. Those wake
// nobody: seeing each of them soon is what lets a follower know, when they end, since when. A follower that only looked once per TTL would need up to two TTLs to be sure.
type feed struct {
	hub    *hub
	cancel context.CancelFunc
	news   chan struct{} // room for one: there is a watch more, or a grant. The query of the beats may rest for hours, when the TTLs are long, and ends that then

	seen map[string]uint64 // leader keys with their indexes; nil: not known yet. Guarded by hub.mu
}

const (
	// longWait is how long a query of the leader keys waits for a change. A hung one is noticed a little later; looks don't depend on it.
	longWait = 30 * time.Second
	// beatWait is shorter, since beats that are seen late let a dead leader live longer.
	beatWait = 10 * time.Second
	// share is the part of a TTL for which the query of the beats rests after each return: leaders of many processes beat at many times, and their beats are seen together
	// then. It is below the third of a TTL in which a single leader's next beat comes.
	share = 6

	firstPause = 20 * time.Millisecond
	longPause  = time.Second
)

// query is the state of one blocking query.
type query struct {
	feed     *feed
	folder   string
	wait     time.Duration
	index    uint64 // zero: the next one returns at once
	failures int
	idle     int // returns without a change, in a row
}

// ask waits for a change. again is set when changes may have been missed before: after a failure, and where the server's index went back.
func (q *query) ask(ctx context.Context) (pairs api.KVPairs, again bool, err error) {
	s := q.feed.hub.store
	limit, cancel := context.WithTimeout(ctx, q.wait+q.wait/16+s.timeout)
	defer cancel()
	again = q.index == 0
	pairs, meta, err := s.client.KV().List(q.folder, (&api.QueryOptions{WaitIndex: q.index, WaitTime: q.wait}).WithContext(limit))
	if err != nil {
		q.failures++
		q.index = 0
		return nil, false, explain(err)
	}
	q.failures = 0
	if meta.LastIndex < q.index {
		q.index = 0 // the servers have lost data, or cleaned up: an index of theirs means nothing for now
		return pairs, true, nil
	}
	q.index = max(meta.LastIndex, 1)
	return pairs, again, nil
}

// rest waits after a failure.
func (q *query) rest(ctx context.Context) {
	p := pause(q.failures)
	sleep(ctx, p/2+rand.N(p/2+1)) // spread, since all clients lose their connections at once
}

// pause is for the n-th time in a row.
func pause(n int) time.Duration { return min(firstPause<<min(n-1, 10), longPause) }

// changes wakes watches until ctx ends.
func (f *feed) changes(ctx context.Context) {
	q := &query{feed: f, folder: f.hub.store.names.leaders(), wait: longWait}
	for ctx.Err() == nil {
		began := time.Now()
		pairs, again, err := q.ask(ctx)
		if err != nil {
			f.refuse(ctx, err)
			q.rest(ctx)
			continue
		}
		if f.take(ctx, pairs, again) || time.Since(began) > longPause {
			q.idle = 0
			continue
		}
		q.idle++
		sleep(ctx, pause(q.idle)) // as long as a folder is empty, each write of anybody's to the servers makes its query return
	}
}

// refuse tells the watches that wait for the present state why there is none.
func (f *feed) refuse(ctx context.Context, err error) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if ctx.Err() == nil && f.seen == nil {
		f.hub.each(func(w *wakeup.Watch) { w.Answer(err) })
	}
}

// take compares the leader keys with those seen before and wakes the watches of what has changed; all of them when changes may have been missed.
func (f *feed) take(ctx context.Context, pairs api.KVPairs, all bool) (changed bool) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if ctx.Err() != nil {
		return true // its watches are gone, others may have come
	}
	first := f.seen == nil
	seen := make(map[string]uint64, len(pairs))
	wake := func(name string) {
		changed = true
		for _, w := range f.hub.watchers[name] {
			w.Wake()
			f.tell()
		}
	}
	for _, pair := range pairs {
		name := last(pair.Key)
		seen[name] = pair.ModifyIndex
		if !first && f.seen[name] != pair.ModifyIndex {
			wake(name)
		}
		delete(f.seen, name)
	}
	for name := range f.seen { // removed
		wake(name)
	}
	f.seen = seen
	switch {
	case first:
		f.hub.each(func(w *wakeup.Watch) { w.Answer(nil) })
	case all:
		f.hub.each((*wakeup.Watch).Wake)
	}
	return changed || first
}

// listen notes beats until ctx ends.
func (f *feed) listen(ctx context.Context) {
	q := &query{feed: f, folder: f.hub.store.names.beats(), wait: beatWait}
	for ctx.Err() == nil {
		pairs, _, err := q.ask(ctx)
		if err != nil {
			q.rest(ctx)
			continue
		}
		f.rest(ctx, max(f.hear(pairs)/share, firstPause))
	}
}

// rest waits for d, or until there is news.
func (f *feed) rest(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-f.news:
	case <-ctx.Done():
	}
}

// tell ends a rest, this one's or the next.
func (f *feed) tell() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// hear notes the beats of watched elections, and returns the shortest of their TTLs: a long one when they have no beats yet, so that those of others, or any writes, are no reason to ask. The first
// grant wakes the watches.
func (f *feed) hear(pairs api.KVPairs) (shortest time.Duration) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	defer func() { shortest = cmp.Or(shortest, share*longPause) }()
	for _, pair := range pairs {
		var b beat
		watchers := f.hub.watchers[last(pair.Key)]
		if len(watchers) == 0 || decode(pair.Key, pair.Value, &b) != nil { // of a foreign value looks tell
			continue
		}
		f.hub.store.beats.Saw(watchers[0].Topic, sign{pair.ModifyIndex, b})
		if ttl := b.TTL.span(); shortest == 0 || ttl < shortest {
			shortest = ttl
		}
	}
	return shortest
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
