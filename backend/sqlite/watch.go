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

// watcher is one Watch or Notify.
type watcher struct {
	election string
	wake     func(open bool) // called under the hub's mutex, and with false once the watcher was taken off
	seen     state
	untie    func() bool // takes the context's end off; nil where a context doesn't end it
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
	ch := make(chan struct{}, 1) // room for one wake-up
	w := &watcher{election: election, wake: func(open bool) {
		if !open {
			close(ch)
			return
		}
		select {
		case ch <- struct{}{}:
		default: // a wake-up is waiting already
		}
	}}
	if err := s.watch(ctx, w); err != nil {
		return nil, err
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.hub.has(w) {
		w.untie = context.AfterFunc(ctx, func() {
			if s.hub.end(w) {
				w.wake(false)
			}
		})
	}
	return ch, nil
}

// Notify implements backend.Notifier.
func (s *Store) Notify(ctx context.Context, election string, wake func(open bool)) (stop func(), err error) {
	w := &watcher{election: election, wake: wake}
	if err := s.watch(ctx, w); err != nil {
		return nil, err
	}
	return func() { s.hub.end(w) }, nil
}

// watch begins a watch of what the election is now.
func (s *Store) watch(ctx context.Context, w *watcher) error {
	err := s.do(ctx, func(call context.Context, ss *session) error {
		row, err := readRow(call, ss.reader, w.election)
		w.seen = stateOf(row.Entry) // a change from here on differs from it
		return err
	})
	if err == nil && !s.addWatcher(ctx, w) {
		err = backend.ErrClosed
	}
	return err
}

// addWatcher lets the poller look for w too, and starts it for the first watcher. It returns false when the store is closed.
func (s *Store) addWatcher(ctx context.Context, w *watcher) bool {
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
		life, cancel := context.WithCancel(context.WithoutCancel(ctx)) // others may come to watch
		h.stop = cancel
		s.active.Go(func() { s.poll(life) })
	}
	return true
}

func (h *hub) has(w *watcher) bool {
	_, ok := h.watchers[w.election][w]
	return ok
}

// end takes a watch off: when it has returned there are no more wake-ups. It returns false when the watch had ended already. The last one ends the poller.
func (h *hub) end(w *watcher) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.has(w) {
		return false
	}
	delete(h.watchers[w.election], w)
	if len(h.watchers[w.election]) == 0 {
		delete(h.watchers, w.election)
	}
	if len(h.watchers) == 0 {
		h.stop()
		h.stop = nil
	}
	return true
}

// close ends all watches.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, set := range h.watchers {
		for w := range set {
			if w.untie != nil {
				w.untie()
			}
			w.wake(false)
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
		w.wake(true)
	}
}
