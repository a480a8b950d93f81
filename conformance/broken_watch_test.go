package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// key is where an election's record is kept.
func (b *breakable) key(election string) string {
	switch b.bug {
	case "names are cut after 64 bytes":
		return election[:min(len(election), 64)]
	case "names are cut at a slash":
		before, _, _ := strings.Cut(election, "/")
		return before
	case "names end at a NUL":
		before, _, _ := strings.Cut(election, "\x00")
		return before
	case "names are trimmed":
		return strings.TrimSpace(election)
	case "names ignore case":
		return strings.ToLower(election)
	case "names are kept by a hash":
		var hash int32
		for _, r := range election {
			hash = 31*hash + r
		}
		return fmt.Sprint(hash)
	case "names are cleaned like paths":
		return strings.ReplaceAll(strings.ReplaceAll(election, "/./", "/"), "//", "/")
	}
	return election
}

// wake tells the watches of an election; callers hold mu.
func (b *breakable) wake(election string) {
	b.changes++
	if b.has("each third wake-up is lost") && b.changes%3 == 0 {
		return
	}
	for _, w := range slices.Collect(maps.Keys(b.watches)) {
		if b.key(w.election) != b.key(election) || b.has("the first watch alone is woken") && !b.first(w) {
			continue
		}
		for !b.send(w) && b.has("a change waits for the receiver") {
			b.mu.Unlock()
			<-time.After(10 * time.Millisecond)
			b.mu.Lock()
		}
	}
}

// send reports whether the wake-up was taken or nobody wants it any more.
func (b *breakable) send(w *watching) bool {
	if w.call != nil {
		if !b.has("functions hear of no release") || b.changes%2 != 0 {
			w.call(true)
		}
		return true
	}
	if !b.watches[w] {
		return true
	}
	select {
	case w.ch <- struct{}{}:
		return true
	default:
		return false
	}
}

// first reports whether w is the only watch of its client's election: the rest share its stream and are forgotten.
func (b *breakable) first(w *watching) bool {
	n := 0
	for other := range b.watches {
		if other.client == w.client && other.election == w.election {
			n++
		}
	}
	return n == 1
}

func (c *brokenClient) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &watching{election: election, client: c, ch: make(chan struct{}, 1)}
	c.watches[w] = true
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.has("a watch outlives its context") {
			return
		}
		for other := range c.watches {
			if other == w || c.has("the end of one watch ends all") && other.client == c {
				c.unwatch(other)
			}
		}
	})
	return w.ch, nil
}

func (b *breakable) unwatch(w *watching) {
	if b.watches[w] {
		delete(b.watches, w)
		if w.call != nil {
			b.endCall(w)
			return
		}
		close(w.ch)
	}
}

func (c *brokenClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watches {
		if (w.client == c || c.has("close ends the watches of others")) && !c.has("a watch outlives its store") {
			c.unwatch(w)
		}
	}
	for _, e := range c.elections {
		if e.client == c && c.has("leases end with their client") {
			e.expires = time.Now()
		}
	}
	if c.has("close reports an error") {
		return errors.New("connection reset")
	}
	c.stuck = c.has("close ends the service for all")
	return nil
}

func (b *breakable) remove(election string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*b.lot(election) = lot{counter: b.lot(election).counter}
	if !b.has("a removal wakes nobody") {
		b.wake(election)
	}
}

func (b *breakable) plant(election, moved string, version int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lot(election).moved, b.lot(election).version = moved, version
}
