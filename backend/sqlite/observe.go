package sqlite

import (
	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/record"
	"github.com/tenure-go/tenure/internal/silence"
)

// observer times the rows that another clock has stamped: the host was restarted, or the file was copied from another one. Their times say nothing here, so such a lease ends only
// when this process has seen it unchanged for one TTL of the holder on its own monotonic clock.
type observer struct {
	seen silence.Watch[stored]
}

// entry returns the entry of a row with its times on the clock named boot.
func (o *observer) entry(election string, row stored, boot string, c record.Clock) record.Entry {
	e := row.Entry
	if row.boot == boot || e.Holder.ID == "" && e.Reserved == 0 {
		o.seen.Forget(election)
		return e
	}
	age := o.seen.Saw(election, row)
	left := max(e.TTL-age, 0)
	e.Mode = backend.Observed
	e.Granted = c.Now - int64(age)
	if e.Holder.ID != "" {
		e.Expires = c.Now + int64(left)
	}
	if e.Reserved != 0 {
		e.Reserved = c.Now + int64(left) // a reservation is at most a TTL long
	}
	return e
}
