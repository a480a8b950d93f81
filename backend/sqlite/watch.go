package sqlite

import (
	"context"
	"sync"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/record"
)

// state is what a watch compares: it differs after each grant, release or removal, and not after a renewal.
type state struct {
	token    int64
	attempt  string
	holder   string
	released bool
	movedTo  string
}

func stateOf(e record.Entry) state {
	return state{token: e.Token, attempt: e.Attempt.String(), holder: e.Holder.ID, released: e.Released, movedTo: e.MovedTo}
}

// watcher is one Watch.
type watcher struct {
	election string
	ch       chan struct{} // room for one wake-up
	seen     state
	stop     func() bool // takes the context's end off
}

func (w *watcher) wake() {
	select {
	case w.ch <- struct{}{}:
	default: // a wake-up is waiting already
	}
}

// hub knows who watches what.
type hub struct {
	mu       sync.Mutex
	closed   bool
	watchers map[string]map[*watcher]struct{}
	fresh    bool   // somebody has come since the poller compared
	stop     func() // ends the poller; nil while nobody watches
}

// Watch implements backend.LeaseStore.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	w := &watcher{election: election, ch: make(chan struct{}, 1)}
	err := s.do(ctx, func(call context.Context, ss *session) error {
		row, err := readRow(call, ss.reader, election)
		w.seen = stateOf(row.Entry) // a change from here on differs from it
		return err
	})
	if err != nil {
		return nil, err
	}
	if !s.addWatcher(w) {
		return nil, backend.ErrClosed
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.hub.has(w) {
		w.stop = context.AfterFunc(ctx, func() { s.hub.end(w) })
	}
	return w.ch, nil
}

// addWatcher lets the poller look for w too, and starts it for the first watcher. It returns false when the store is closed.
func (s *Store) addWatcher(w *watcher) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	h := &s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if h.watchers[w.election] == nil {
		h.watchers[w.election] = make(map[*watcher]struct{})
	}
	h.watchers[w.election][w] = struct{}{}
	h.fresh = true
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		h.stop = cancel
		s.active.Go(func() { s.poll(ctx) })
	}
	return true
}

func (h *hub) has(w *watcher) bool {
	_, ok := h.watchers[w.election][w]
	return ok
}

// end closes a watch whose context has ended, unless Close did so before. The last one ends the poller.
func (h *hub) end(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.has(w) {
		return
	}
	close(w.ch)
	delete(h.watchers[w.election], w)
	if len(h.watchers[w.election]) == 0 {
		delete(h.watchers, w.election)
	}
	if len(h.watchers) == 0 {
		h.stop()
		h.stop = nil
	}
}

// close ends all watches.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, set := range h.watchers {
		for w := range set {
			if w.stop != nil {
				w.stop()
			}
			close(w.ch)
		}
	}
	clear(h.watchers)
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

// notify wakes the watchers of an election that this store has changed.
func (h *hub) notify(election string, now state) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers[election] {
		w.seen = now
		w.wake()
	}
}
