package consul

import (
	"context"
	"errors"
	"sync"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/wakeup"
)

// hub serves all watches of a store with two blocking queries, which run while there is a watch: see feed.
type hub struct {
	store   *Store
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	feed     *feed                                 // nil: nobody watches
	watchers map[string]map[*wakeup.Watch]struct{} // by escaped election
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
	if err = w.Await(ctx, s.timeout, errUnanswered); err == nil {
		err = s.watch.bind(ctx, w)
	}
	if err != nil {
		s.watch.remove(w)
		return nil, explain(err)
	}
	return w.C(), nil
}

func (h *hub) add(election string) (*wakeup.Watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, backend.ErrClosed
	}
	w := wakeup.New(election)
	name := backend.Escape(election)
	if h.watchers[name] == nil {
		h.watchers[name] = map[*wakeup.Watch]struct{}{}
	}
	h.watchers[name][w] = struct{}{}
	if h.feed == nil {
		h.begin()
	} else if h.feed.tell(); h.feed.seen != nil {
		w.Answer(nil)
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
func (h *hub) bind(ctx context.Context, w *wakeup.Watch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return w.Bind(ctx, func() { h.remove(w) })
}

func (h *hub) remove(w *wakeup.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !w.Ended() {
		h.drop(w)
	}
}

// drop takes a watcher out, and ends the queries after the last; callers hold mu.
func (h *hub) drop(w *wakeup.Watch) {
	w.End()
	name := backend.Escape(w.Topic)
	delete(h.watchers[name], w)
	if len(h.watchers[name]) == 0 {
		delete(h.watchers, name)
	}
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
			w.Answer(backend.ErrClosed)
			h.drop(w)
		}
	}
}

func (h *hub) wait() { h.running.Wait() }

// each calls f for every watcher; callers hold mu.
func (h *hub) each(f func(*wakeup.Watch)) {
	for _, watchers := range h.watchers {
		for w := range watchers {
			f(w)
		}
	}
}
