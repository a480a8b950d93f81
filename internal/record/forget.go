package record

import (
	"fmt"

	"github.com/tenure-go/tenure/backend"
)

// Forget empties the entry that was read as r, if nobody uses the election. The store keeps the counter that it had as a floor of all later tokens: it must be a part of Clock.Bound from then on. An entry that is
// empty already has nothing to forget.
//
// A counter far above what the store knows is refused as an absurd floor is, since it would use up the tokens of all elections.
func (e *Entry) Forget(r backend.Record, c Clock) (counter int64, err error) {
	if *e == (Entry{}) {
		return 0, nil
	}
	if err := e.usable(); err != nil {
		return 0, err
	}
	switch {
	case e.Live(c) || e.reserved(c):
		return 0, &backend.HeldError{Record: e.Record(r.Election, c)}
	case e.Counter != r.Counter || e.Attempt != r.Attempt:
		return 0, backend.ErrOutdated
	case !backend.FloorInRange(e.Counter, c.Bound, c.Wall):
		return 0, fmt.Errorf("%w: the counter %d is far above all others of the store, whose tokens would have to go on from there", backend.ErrInvalid, e.Counter)
	}
	counter, *e = e.Counter, Entry{}
	return counter, nil
}
