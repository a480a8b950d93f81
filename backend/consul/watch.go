package consul

import (
	"context"
	"errors"
	"slices"
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
	feed     *feed                      // nil: nobody watches
	watchers map[string][]*wakeup.Watch // by escaped election
}

// errUnanswered says that the servers didn't tell the present state in time.
var errUnanswered = errors.New("the servers didn't answer")

// Watch implements backend.LeaseStore. It returns when the present state is known, or fails within the caller's context and [Options].Timeout: the caller tries again.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	w := wakeup.New(election)
	if err := s.follow(ctx, w); err != nil {
		return nil, err
	}
	return w.C(), nil
}

// Notify implements backend.Notifier, in the way of Watch.
func (s *Store) Notify(ctx context.Context, election string, wake func(open bool)) (stop func(), err error) {
	w := wakeup.NewFunc(election, wake)
	if err := s.follow(ctx, w); err != nil {
		return nil, err
	}
	return func() { s.watch.quit(w) }, nil
}

// follow begins a watch, or leaves nothing of it.
func (s *Store) follow(ctx context.Context, w *wakeup.Watch) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.watch.add(w); err != nil { //nolint:contextcheck // the queries are for all watches and outlive this one
		return err
	}
	err := w.Await(ctx, s.timeout, errUnanswered)
	if err == nil {
		err = s.watch.bind(ctx, w)
	}
	if err != nil {
		s.watch.remove(w)
	}
	return explain(err)
}

func (h *hub) add(w *wakeup.Watch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return backend.ErrClosed
	}
	name := backend.Escape(w.Topic)
	h.watchers[name] = append(h.watchers[name], w)
	if h.feed == nil {
		h.begin()
	} else if h.feed.tell(); h.feed.seen != nil {
		w.Answer(nil)
	}
	return nil
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

// quit ends a watch whose caller wants no more calls.
func (h *hub) quit(w *wakeup.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !w.Ended() {
		w.Unbind()
		h.drop(w)
	}
}

// drop takes a watcher out, and ends the queries after the last; callers hold mu.
func (h *hub) drop(w *wakeup.Watch) {
	w.End()
	name := backend.Escape(w.Topic)
	h.watchers[name] = slices.DeleteFunc(h.watchers[name], func(other *wakeup.Watch) bool { return other == w })
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
		for _, w := range slices.Clone(watchers) {
			w.Answer(backend.ErrClosed)
			h.drop(w)
		}
	}
}

func (h *hub) wait() { h.running.Wait() }

// each calls f for every watcher; callers hold mu.
func (h *hub) each(f func(*wakeup.Watch)) {
	for _, watchers := range h.watchers {
		for _, w := range watchers {
			f(w)
		}
	}
}
