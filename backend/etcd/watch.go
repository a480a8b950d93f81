package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// watcher is one Watch.
type watcher struct {
	base   string
	ch     chan struct{} // room for one wake-up
	ready  chan error    // room for one: nil once the server has confirmed the stream
	gone   bool
	unbind func() bool // ends the tie to the caller's context
}

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
	timer := time.NewTimer(s.timeout)
	defer timer.Stop()
	select {
	case err = <-w.ready:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = fmt.Errorf("%w within %v", errUnconfirmed, s.timeout)
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

// add registers a watcher. Where the stream is there it is ready at once.
func (h *hub) add(base string) (*watcher, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, backend.ErrClosed
	}
	w := &watcher{base: base, ch: make(chan struct{}, 1), ready: make(chan error, 1)}
	t := h.topics[base]
	if t == nil {
		t = &topic{watchers: map[*watcher]bool{}}
		h.topics[base] = t
	}
	t.watchers[w] = true
	if h.open {
		w.ready <- nil
	} else {
		h.waiting[w] = true
	}
	h.begin()
	return w, nil
}

// answer tells the watches that wait for the stream; callers hold mu.
func (h *hub) answer(err error) {
	for w := range h.waiting {
		w.ready <- err
	}
	clear(h.waiting)
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

// remove closes a watcher's channel.
func (h *hub) remove(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !w.gone {
		h.drop(w)
	}
}

// drop takes a watcher out; callers hold mu.
func (h *hub) drop(w *watcher) {
	w.gone = true
	if w.unbind != nil {
		w.unbind()
	}
	delete(h.waiting, w)
	t := h.topics[w.base]
	delete(t.watchers, w)
	if len(t.watchers) == 0 {
		delete(h.topics, w.base)
	}
	close(w.ch)
}

// topic is one election with its watchers.
type topic struct {
	watchers map[*watcher]bool
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
		select {
		case w.ch <- struct{}{}:
		default: // a wake-up is waiting already
		}
	}
}
