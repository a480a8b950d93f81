package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// pollEvery is how often the store looks whether another process has changed the file, while somebody watches.
const pollEvery = 250 * time.Millisecond

// poller looks at the file for all watches of a store.
type poller struct {
	session *session
	conn    *sql.Conn // the same one from look to look: SQLite counts changes by others than the connection that asks
	version int64
	missed  bool // changes may have been missed
}

// poll looks at the file until ctx ends.
func (s *Store) poll(ctx context.Context) {
	var p poller
	defer p.disconnect()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.look(ctx, &p); err != nil {
			p.disconnect() // the next look begins anew, and wakes everybody
			p.missed = true
		}
	}
}

// look wakes those whose election has changed since the last look.
func (s *Store) look(ctx context.Context, p *poller) error {
	if p.conn != nil && (p.session != s.current.Load() || !p.session.intact()) {
		p.disconnect() // first: while it is there, nobody gets to the new file
		p.missed = true
	}
	if p.conn == nil {
		if err := s.connect(ctx, p); err != nil {
			return err
		}
	}
	var version int64
	if err := p.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		return err
	}
	if elections, fresh := s.hub.elections(); fresh || version != p.version {
		now, err := readStates(ctx, p.conn, elections)
		if err != nil {
			return err
		}
		s.hub.compare(now)
		p.version = version // as read before the states: a change in between shows at the next look
	}
	if p.missed {
		s.hub.wakeAll()
		p.missed = false
	}
	return nil
}

func (s *Store) connect(ctx context.Context, p *poller) error {
	ss, err := s.session(ctx)
	if err != nil {
		return err
	}
	conn, err := ss.reader.Conn(ctx)
	if err != nil {
		return err
	}
	p.session, p.conn, p.version = ss, conn, -1
	return nil
}

func (p *poller) disconnect() {
	if p.conn != nil {
		_ = p.conn.Close() // back to the pool
		p.conn = nil
	}
}

// maxTerms is how many elections one statement reads.
const maxTerms = 500

// readStates reads the states of elections. One without a row has the zero state.
func readStates(ctx context.Context, q querier, elections []string) (map[string]state, error) {
	states := make(map[string]state, len(elections))
	for part := range slices.Chunk(elections, maxTerms) {
		args := make([]any, len(part))
		for i, election := range part {
			args[i], states[election] = election, state{}
		}
		query := "SELECT election, token, attempt, holder, released, moved_to FROM tenure_lease WHERE election IN (?" + strings.Repeat(",?", len(part)-1) + ")"
		rows, err := q.QueryContext(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		if err := scanStates(rows, states); err != nil {
			return nil, err
		}
	}
	return states, nil
}

func scanStates(rows *sql.Rows, states map[string]state) error {
	for rows.Next() {
		var election string
		var s state
		if err := rows.Scan(&election, &s.token, &s.attempt, &s.holder, &s.released, &s.movedTo); err != nil {
			return errors.Join(err, rows.Close())
		}
		states[election] = s
	}
	return errors.Join(rows.Err(), rows.Close())
}

// elections lists what is watched, and whether somebody has come since the last call.
func (h *hub) elections() (watched []string, fresh bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fresh, h.fresh = h.fresh, false
	return slices.Collect(maps.Keys(h.watchers)), fresh
}

// compare wakes the watchers of elections that are not as they were. An election that isn't in now was not watched when it was read.
func (h *hub) compare(now map[string]state) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for election, set := range h.watchers {
		s, read := now[election]
		for w := range set {
			if read && w.seen != s {
				w.seen = s
				w.wake(true)
			}
		}
	}
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, set := range h.watchers {
		for w := range set {
			w.wake(true)
		}
	}
}
