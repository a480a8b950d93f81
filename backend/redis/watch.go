package redis

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/wakeup"
)

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
	if err = w.Await(ctx, s.timeout, errUnconfirmed); err == nil {
		err = s.watch.bind(ctx, w)
	}
	if err != nil {
		s.watch.remove(w)
		return nil, explain(err)
	}
	return w.C(), nil
}

// add registers a watcher and sees to its subscription.
func (h *hub) add(channel string) (*wakeup.Watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, backend.ErrClosed
	}
	w := wakeup.New(channel)
	t := h.topics[channel]
	if t == nil {
		t = &topic{watchers: map[*wakeup.Watch]struct{}{}}
		h.topics[channel] = t
	}
	t.watchers[w] = struct{}{}
	if t.confirmed {
		w.Answer(nil)
	}
	h.begin()
	h.nudge()
	return w, nil
}

// bind ends the watch with ctx.
func (h *hub) bind(ctx context.Context, w *wakeup.Watch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return w.Bind(ctx, func() { h.remove(w) })
}

// remove closes a watcher's channel, at once: the subscription ends later, in the hub's own time.
func (h *hub) remove(w *wakeup.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.Ended() {
		return
	}
	h.drop(w)
	h.nudge()
}

// drop takes a watcher out; callers hold mu. Its topic stays until the server was told.
func (h *hub) drop(w *wakeup.Watch) {
	delete(h.topics[w.Topic].watchers, w)
	w.End()
}

// topic is one channel of the server with its watchers.
type topic struct {
	watchers  map[*wakeup.Watch]struct{}
	confirmed bool // at least once
}

// wake tells the watchers; callers hold mu.
func (t *topic) wake() {
	for w := range t.watchers {
		w.Wake()
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
		w.Answer(err)
	}
}
