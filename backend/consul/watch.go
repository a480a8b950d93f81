package consul

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// hub serves all watches of a store with two blocking queries, which run while there is a watch: see feed.
type hub struct {
	store   *Store
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	feed     *feed                            // nil: nobody watches
	watchers map[string]map[*watcher]struct{} // by escaped election
}

// watcher is one Watch.
type watcher struct {
	election string
	ch       chan struct{} // room for one wake-up
	ready    chan error    // room for one: nil once later changes are sure to be seen
	gone     bool
	unbind   func() bool // ends the tie to the caller's context
}

// errUnanswered says that the servers didn't tell the present state in time.
var errUnanswered = errors.New("the servers didn't answer")

// Watch implements backend.LeaseStore. It returns when the present state is known, or fails within the caller's context and [Options].Timeout: the caller tries again.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w, err := s.watch.add(election) //nolint:contextcheck // the queries are for all watches and outlive this one
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(s.timeout)
	defer timer.Stop()
	select {
	case err = <-w.ready:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = fmt.Errorf("%w within %v", errUnanswered, s.timeout)
	}
	if err == nil {
		err = s.watch.bind(ctx, w)
	}
	if err != nil {
		s.watch.remove(w)
		return nil, explain(err)
	}
	return w.ch, nil
}

func (h *hub) add(election string) (*watcher, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, backend.ErrClosed
	}
	w := &watcher{election: election, ch: make(chan struct{}, 1), ready: make(chan error, 1)}
	name := backend.Escape(election)
	if h.watchers[name] == nil {
		h.watchers[name] = map[*watcher]struct{}{}
	}
	h.watchers[name][w] = struct{}{}
	if h.feed == nil {
		h.begin()
	} else if h.feed.tell(); h.feed.seen != nil {
		w.ready <- nil
	}
	return w, nil
}

// begin starts the queries for the first watch; callers hold mu.
func (h *hub) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	f := &feed{hub: h, cancel: cancel, news: make(chan struct{}, 1)}
	h.feed = f
	h.running.Go(func() { f.changes(ctx) })
	h.running.Go(func() { f.listen(ctx) })
}

// bind ends the watch with ctx.
func (h *hub) bind(ctx context.Context, w *watcher) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.gone {
		return backend.ErrClosed
	}
	w.unbind = context.AfterFunc(ctx, func() { h.remove(w) })
	return nil
}

func (h *hub) remove(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !w.gone {
		h.drop(w)
	}
}

// drop takes a watcher out, and ends the queries after the last; callers hold mu.
func (h *hub) drop(w *watcher) {
	w.gone = true
	if w.unbind != nil {
		w.unbind()
	}
	name := backend.Escape(w.election)
	delete(h.watchers[name], w)
	if len(h.watchers[name]) == 0 {
		delete(h.watchers, name)
	}
	close(w.ch)
	if len(h.watchers) == 0 && h.feed != nil {
		h.feed.cancel()
		h.feed = nil
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, watchers := range h.watchers {
		for w := range watchers {
			w.answer(backend.ErrClosed)
			h.drop(w)
		}
	}
}

func (h *hub) wait() { h.running.Wait() }

// each calls f for every watcher; callers hold mu.
func (h *hub) each(f func(*watcher)) {
	for _, watchers := range h.watchers {
		for w := range watchers {
			f(w)
		}
	}
}

func (w *watcher) answer(err error) {
	select {
	case w.ready <- err:
	default: // it was told before
	}
}

func (w *watcher) wake() {
	select {
	case w.ch <- struct{}{}:
	default: // a wake-up is waiting already
	}
}
