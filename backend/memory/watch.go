package memory

import (
	"context"

	"github.com/tenure-go/tenure/backend"
)

// watcher is one Watch of one client.
type watcher struct {
	election string
	ch       chan struct{} // room for one wake-up
}

// Watch implements backend.LeaseStore.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, backend.ErrClosed
	}
	w := &watcher{election: election, ch: make(chan struct{}, 1)}
	s.server.watch(w)
	s.ends[w] = context.AfterFunc(ctx, func() { s.end(w) })
	return w.ch, nil
}

// end closes a watch that its context ended, unless Close did so before.
func (s *Store) end(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.ends[w]; open {
		delete(s.ends, w)
		s.server.unwatch(w)
	}
}

// Close implements backend.LeaseStore. The server and its records stay.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for w, stop := range s.ends {
		stop()
		s.server.unwatch(w)
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

func (s *Server) unwatch(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers[w.election], w)
	if len(s.watchers[w.election]) == 0 {
		delete(s.watchers, w.election)
	}
	close(w.ch)
}
