package etcd

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/wakeup"
)

// errUnconfirmed says that the server didn't open the stream in time.
var errUnconfirmed = errors.New("the server didn't confirm the watch")

// Watch implements backend.LeaseStore. It returns when the server has confirmed the stream, or fails within the caller's context and [Options].Timeout: the caller tries again.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	w, err := s.watch.add(s.names.base(election)) //nolint:contextcheck // the stream is for all watches and outlives this one
	if err != nil {
		return nil, err
	}
	if err = w.Await(ctx, s.timeout, errUnconfirmed); err == nil {
		err = s.watch.bind(ctx, w)
	}
	if err != nil {
		s.watch.remove(w)
		return nil, explain(err)
	}
	return w.C(), nil
}

// add registers a watcher. Where the stream is there it is ready at once.
func (h *hub) add(base string) (*wakeup.Watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, backend.ErrClosed
	}
	w := wakeup.New(base)
	t := h.topics[base]
	if t == nil {
		t = &topic{watchers: map[*wakeup.Watch]bool{}}
		h.topics[base] = t
	}
	t.watchers[w] = true
	if h.open {
		w.Answer(nil)
	} else {
		h.waiting[w] = true
	}
	h.begin()
	return w, nil
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

// remove closes a watcher's channel.
func (h *hub) remove(w *wakeup.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !w.Ended() {
		h.drop(w)
	}
}

// drop takes a watcher out; callers hold mu.
func (h *hub) drop(w *wakeup.Watch) {
	w.End()
	delete(h.waiting, w)
	t := h.topics[w.Topic]
	delete(t.watchers, w)
	if len(t.watchers) == 0 {
		delete(h.topics, w.Topic)
	}
}

// topic is one election with its watchers.
type topic struct {
	watchers map[*wakeup.Watch]bool
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
	for w := range t.watchers {
		w.Wake()
	}
}
