package memory

import (
	"context"

	"github.com/tenure-go/tenure/backend"
)

// watcher is one Watch or Notify of one client.
type watcher struct {
	election string
	wake     func(open bool) // called under the server's mutex, and for the last time after the watcher was taken off
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
	if err := s.begin(ctx, w); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.ends[w]; open {
		s.ends[w] = context.AfterFunc(ctx, func() {
			if s.end(w) {
				w.wake(false)
			}
		})
	}
	return ch, nil
}

// Notify implements backend.Notifier.
func (s *Store) Notify(ctx context.Context, election string, wake func(open bool)) (stop func(), err error) {
	w := &watcher{election: election, wake: wake}
	if err := s.begin(ctx, w); err != nil {
		return nil, err
	}
	return func() { s.end(w) }, nil
}

// begin adds a watch.
func (s *Store) begin(ctx context.Context, w *watcher) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return backend.ErrClosed
	}
	s.server.watch(w)
	s.ends[w] = func() bool { return true } // nothing to untie
	return nil
}

// end takes a watch off: when it has returned there are no more wake-ups. It returns false when the watch had ended already.
func (s *Store) end(w *watcher) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.ends[w]; !open {
		return false
	}
	delete(s.ends, w)
	s.server.unwatch(w)
	return true
}

// Close implements backend.LeaseStore. The server and its records stay.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for w, untie := range s.ends {
		untie()
		s.server.unwatch(w)
		w.wake(false)
	}
	clear(s.ends)
	return nil
}

func (s *Server) watch(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers == nil {
		s.watchers = make(map[string]map[*watcher]struct{})
	}
	if s.watchers[w.election] == nil {
		s.watchers[w.election] = make(map[*watcher]struct{})
	}
	s.watchers[w.election][w] = struct{}{}
}

// unwatch returns when no wake-up is under way, and none will come.
func (s *Server) unwatch(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers[w.election], w)
	if len(s.watchers[w.election]) == 0 {
		delete(s.watchers, w.election)
	}
}
