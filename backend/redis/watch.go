package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// watcher is one Watch.
type watcher struct {
	channel string
	ch      chan struct{} // room for one wake-up
	ready   chan error    // room for one: nil once the server has confirmed the subscription
	gone    bool
	unbind  func() bool // ends the tie to the caller's context
}

// errUnconfirmed says that the server didn't answer a subscription in time.
var errUnconfirmed = errors.New("the server didn't confirm the subscription")

// Watch implements backend.LeaseStore. It returns when the server has confirmed the subscription, or fails within the caller's context and [Options].Timeout: the
// caller tries again.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	w, err := s.watch.add(s.names.channel(election)) //nolint:contextcheck // the connection is for all watches and outlives this one
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

// add registers a watcher and sees to its subscription.
func (h *hub) add(channel string) (*watcher, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, backend.ErrClosed
	}
	w := &watcher{channel: channel, ch: make(chan struct{}, 1), ready: make(chan error, 1)}
	t := h.topics[channel]
	if t == nil {
		t = &topic{watchers: map[*watcher]struct{}{}}
		h.topics[channel] = t
	}
	t.watchers[w] = struct{}{}
	if t.confirmed {
		w.ready <- nil
	}
	h.begin()
	h.nudge()
	return w, nil
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

// remove closes a watcher's channel, at once: the subscription ends later, in the hub's own time.
func (h *hub) remove(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.gone {
		return
	}
	h.drop(w)
	h.nudge()
}

// drop takes a watcher out; callers hold mu. Its topic stays until the server was told.
func (h *hub) drop(w *watcher) {
	w.gone = true
	if w.unbind != nil {
		w.unbind()
	}
	delete(h.topics[w.channel].watchers, w)
	close(w.ch)
}

// topic is one channel of the server with its watchers.
type topic struct {
	watchers  map[*watcher]struct{}
	confirmed bool // at least once
}

// wake tells the watchers; callers hold mu.
func (t *topic) wake() {
	for w := range t.watchers {
		select {
		case w.ch <- struct{}{}:
		default: // a wake-up is waiting already
		}
	}
}

// confirm notes that the server has confirmed a subscription; callers hold mu. The first time it is what Watch waits for, later it may follow a gap, in which
// changes went unheard.
func (t *topic) confirm() {
	if t.confirmed {
		t.wake()
		return
	}
	t.confirmed = true
	t.answer(nil)
}

// answer tells the watchers that wait for the subscription; callers hold mu.
func (t *topic) answer(err error) {
	for w := range t.watchers {
		select {
		case w.ready <- err:
		default: // it was told before
		}
	}
}
