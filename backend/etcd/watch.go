package etcd

import (
	"context"
	"errors"
	"slices"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/wakeup"
)

// errUnconfirmed says that the server didn't open the stream in time.
var errUnconfirmed = errors.New("the server didn't confirm the watch")

// Watch implements backend.LeaseStore. It returns when the server has confirmed the stream, or fails within the caller's context and [Options].Timeout: the caller tries again.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	w := wakeup.New(s.names.base(election))
	if err := s.follow(ctx, w); err != nil {
		return nil, err
	}
	return w.C(), nil
}

// Notify implements backend.Notifier, in the way of Watch.
func (s *Store) Notify(ctx context.Context, election string, wake func(open bool)) (stop func(), err error) {
	w := wakeup.NewFunc(s.names.base(election), wake)
	if err := s.follow(ctx, w); err != nil {
		return nil, err
	}
	return func() { s.watch.quit(w) }, nil
}

// follow begins a watch, or leaves nothing of it.
func (s *Store) follow(ctx context.Context, w *wakeup.Watch) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if err := s.watch.add(w); err != nil { //nolint:contextcheck // the stream is for all watches and outlives this one
		return err
	}
	err := w.Await(ctx, s.timeout, errUnconfirmed)
	if err == nil {
		err = s.watch.bind(ctx, w)
	}
	if err != nil {
		s.watch.remove(w)
	}
	return explain(err)
}

// add registers a watcher. Where the stream is there it is ready at once.
func (h *hub) add(w *wakeup.Watch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return backend.ErrClosed
	}
	t := h.topics[w.Topic]
	if t == nil {
		t = &topic{}
		h.topics[w.Topic] = t
	}
	t.watchers = append(t.watchers, w)
	if h.open {
		w.Answer(nil)
	} else {
		h.waiting[w] = true
	}
	h.begin()
	return nil
}

// answer tells the watches that wait for the stream; callers hold mu.
func (h *hub) answer(err error) {
	for w := range h.waiting {
		w.Answer(err)
	}
	clear(h.waiting)
}

// bind ends the watch with ctx.
func (h *hub) bind(ctx context.Context, w *wakeup.Watch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return w.Bind(ctx, func() { h.remove(w) })
}

// remove ends a watcher.
func (h *hub) remove(w *wakeup.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !w.Ended() {
		h.drop(w)
	}
}

// quit ends a watcher whose caller wants no more calls.
func (h *hub) quit(w *wakeup.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !w.Ended() {
		w.Unbind()
		h.drop(w)
	}
}

// drop takes a watcher out; callers hold mu.
func (h *hub) drop(w *wakeup.Watch) {
	w.End()
	delete(h.waiting, w)
	t := h.topics[w.Topic]
	t.watchers = slices.DeleteFunc(t.watchers, func(other *wakeup.Watch) bool { return other == w })
	if len(t.watchers) == 0 {
		delete(h.topics, w.Topic)
	}
}

// topic is one election with its watchers.
type topic struct {
	watchers []*wakeup.Watch
	value    string // of the leader key, if known
	known    bool
}

// changed notes what the leader key is now, empty if it was removed, and reports whether it was something else.
func (t *topic) changed(value string) bool {
	same := t.known && t.value == value
	t.value, t.known = value, true
	return !same
}

// wake tells the watchers; callers hold the hub's mu.
func (t *topic) wake() {
	for _, w := range t.watchers {
		w.Wake()
	}
}
