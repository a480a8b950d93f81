package conformance

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/backend"
)

var (
	_ backend.Notifier  = (*brokenClient)(nil)
	_ backend.Roster    = (*brokenClient)(nil)
	_ backend.Lister    = (*brokenClient)(nil)
	_ backend.Forgetter = (*brokenClient)(nil)
)

// shelf is what a breakable store keeps for the optional interfaces.
type shelf struct {
	lists  map[string]map[string]listing
	floor  int64 // of forgotten elections
	cached []backend.Entry
}

type listing struct {
	backend.Entry
	expires time.Time
}

// Notify calls wake under the store's lock, unless it has a bug.
func (c *brokenClient) Notify(ctx context.Context, election string, wake func(bool)) (func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &watching{election: election, client: c, call: wake}
	c.watches[w] = true
	if c.has("a function's watch ends with its context") {
		context.AfterFunc(ctx, func() { c.stop(w) })
	}
	stopped := false
	return func() {
		if stopped && c.has("a second stop ends the next watch") {
			c.stopAny()
		}
		stopped = true
		if !c.has("stop is forgotten") {
			c.stop(w)
		}
	}, nil
}

func (c *brokenClient) stop(w *watching) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watches, w)
	if c.has("stop tells that the store was closed") {
		w.call(false)
	}
	if c.has("stop wakes once more") {
		go w.call(true)
	}
	if c.has("the end of one function's watch ends all of its election") {
		for other := range c.watches {
			if other.election == w.election {
				delete(c.watches, other)
			}
		}
	}
}

func (c *brokenClient) stopAny() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watches {
		if w.call != nil {
			delete(c.watches, w)
		}
	}
}

// endCall tells a function that its store was closed; callers hold mu.
func (b *breakable) endCall(w *watching) {
	switch b.bug {
	case "close tells no function":
	case "close tells functions twice":
		w.call(false)
		w.call(false)
	case "close wakes functions after their end":
		w.call(false)
		w.call(true)
	default:
		w.call(false)
	}
}

// place is where an election's list is kept.
func (b *breakable) place(election, candidate string) (string, string) {
	if b.has("lists join election and candidate by a slash") {
		return "", election + "/" + candidate
	}
	return b.key(election), candidate
}

func (c *brokenClient) Enlist(_ context.Context, e backend.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, id := c.place(e.Election, e.Candidate.ID)
	if c.shelf.lists == nil {
		c.shelf.lists = make(map[string]map[string]listing)
	}
	if c.shelf.lists[list] == nil {
		c.shelf.lists[list] = make(map[string]listing)
	}
	old, there := c.shelf.lists[list][id]
	l := listing{e, time.Now().Add(e.TTL)}
	switch c.bug {
	case "entries end at 80 % of their TTL":
		l.expires = time.Now().Add(e.TTL * 8 / 10)
	case "entries never end":
		l.expires = time.Now().Add(time.Hour)
	case "entries linger for a minute":
		l.expires = l.expires.Add(time.Minute)
	case "a repeated entry keeps its time":
		if there && old.expires.After(time.Now()) {
			l.expires = old.expires
		}
	case "a repeated entry keeps its note":
		if there {
			l.Note = old.Note
		}
	case "a repeated entry can't get shorter":
		if there && old.expires.After(l.expires) {
			l.expires = old.expires
		}
	case "notes are cut after 1024 bytes":
		l.Note = l.Note[:min(len(l.Note), 1024)]
	case "notes end at a NUL":
		l.Note, _, _ = strings.Cut(l.Note, "\x00")
	case "lists forget the description":
		l.Candidate.Description = backend.Description{}
	case "enlisting makes a record":
		c.lot(e.Election).version = 1
	case "enlisting bumps the counter":
		if c.lot(e.Election).counter > 0 {
			c.lot(e.Election).counter++
		}
	case "enlisting ends the holder's lease":
		c.lot(e.Election).holder = backend.Candidate{}
	case "enlisting of two at once loses one":
		kept := maps.Clone(c.shelf.lists[list])
		c.mu.Unlock()
		<-time.After(time.Microsecond)
		c.mu.Lock()
		c.shelf.lists[list] = kept
	}
	c.shelf.lists[list][id] = l
	return nil
}

func (c *brokenClient) Delist(_ context.Context, election, candidate string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, id := c.place(election, candidate)
	_, there := c.shelf.lists[list][id]
	switch {
	case !there && c.has("delisting nobody is an error"):
		return backend.ErrNotHeld
	case c.has("delisting is put off"):
		return nil
	case c.has("delisting clears the list"):
		clear(c.shelf.lists[list])
	}
	delete(c.shelf.lists[list], id)
	return nil
}

func (c *brokenClient) Candidates(_ context.Context, election string) ([]backend.Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, _ := c.place(election, "")
	var entries []backend.Entry
	for id, l := range c.shelf.lists[list] {
		if c.has("lists join election and candidate by a slash") && !strings.HasPrefix(id, election+"/") {
			continue
		}
		if l.expires.After(time.Now()) {
			entries = append(entries, l.Entry)
		}
	}
	slices.SortFunc(entries, func(a, b backend.Entry) int {
		if c.has("candidates are in no order of bytes") {
			return strings.Compare(strings.ToLower(a.Candidate.ID), strings.ToLower(b.Candidate.ID))
		}
		return strings.Compare(a.Candidate.ID, b.Candidate.ID)
	})
	if c.has("candidates come from a cache") {
		entries, c.shelf.cached = c.shelf.cached, entries
	}
	return entries, nil
}

func (c *brokenClient) Elections(_ context.Context, after string, limit int) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for name, e := range c.elections {
		has := *e != lot{} || c.has("elections without a record are listed")
		if c.has("only held elections are listed") {
			has = e.live(time.Now())
		}
		if has && (name > after || name == after && c.has("a page begins with the last name again")) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	switch c.bug {
	case "elections are in no order of bytes":
		slices.SortFunc(list, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	case "a page has one name too many":
		limit++
	case "names that begin another are listed with it":
		list = slices.CompactFunc(list, func(name, before string) bool { return strings.HasPrefix(name, before) })
	case "names are listed as they are escaped":
		for i, name := range list {
			list[i] = backend.Escape(name)
		}
	}
	return list[:min(limit, len(list))], nil
}
