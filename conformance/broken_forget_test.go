package conformance

import (
	"context"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// Forget lifts the floor of all elections, unless it has a bug.
func (c *brokenClient) Forget(_ context.Context, r backend.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, now := c.lot(r.Election), time.Now()
	switch {
	case e.counter == 0 && e.version == 0:
		if c.has("forgetting nothing is an error") {
			return backend.ErrOutdated
		}
		return nil
	case e.moved != "" && !c.has("a moved election is forgotten"):
		return backend.ErrMoved
	case e.live(now) && !c.has("a held election is forgotten"):
		if c.has("forgetting tells no holder") {
			return backend.ErrHeld
		}
		return c.held(r.Election, e, now)
	case e.until.After(now) && !c.has("a reserved election is forgotten"):
		return c.held(r.Election, e, now)
	case e.counter != r.Counter && !c.has("any record is forgotten") && !c.has("the attempt alone says which record is forgotten"):
		return backend.ErrOutdated
	case e.attempt != r.Attempt && !c.has("any record is forgotten") && !c.has("the counter alone says which record is forgotten"):
		return backend.ErrOutdated
	}
	switch c.bug {
	case "forgetting restarts the tokens":
	case "forgetting keeps the token of the last grant alone":
		c.shelf.floor = max(c.shelf.floor, e.token)
	case "forgetting keeps the last floor alone":
		c.shelf.floor = e.counter
	case "forgetting is put off":
		return nil
	default:
		c.shelf.floor = max(c.shelf.floor, e.counter)
	}
	if c.has("a forgotten election keeps its counter") {
		*e = lot{counter: e.counter}
		return nil
	}
	if c.has("a forgotten election's last lease can be released") {
		*e = lot{attempt: e.attempt, token: e.token, released: true}
		return nil
	}
	delete(c.elections, c.key(r.Election))
	if c.has("forgetting takes other elections with it") {
		for name := range c.elections {
			if !c.elections[name].live(now) {
				delete(c.elections, name)
			}
		}
	}
	return nil
}
