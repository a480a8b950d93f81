package sqlite

import (
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/record"
)

// observer times the rows that another clock has stamped: the host was restarted, or the file was copied from another one. Their times say nothing here, so such a lease ends only
// when this process has seen it unchanged for one TTL of the holder on its own monotonic clock.
type observer struct {
	mu   sync.Mutex
	seen map[string]sighting
}

type sighting struct {
	row   stored
	since time.Time
}

// entry returns the entry of a row with its times on the clock named boot.
func (o *observer) entry(election string, row stored, boot string, c record.Clock) record.Entry {
	e := row.Entry
	o.mu.Lock()
	defer o.mu.Unlock()
	if row.boot == boot || e.Holder.ID == "" && e.Reserved == 0 {
		delete(o.seen, election)
		return e
	}
	s, known := o.seen[election]
	if !known || s.row != row {
		s = sighting{row: row, since: time.Now()}
		if o.seen == nil {
			o.seen = make(map[string]sighting)
		}
		o.seen[election] = s
	}
	age := time.Since(s.since) // monotonic: it stands still in suspend, as a wait before a take-over must
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
