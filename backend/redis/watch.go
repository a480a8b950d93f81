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
	w := wakeup.New(s.names.channel(election))
	if err := s.attach(ctx, w); err != nil {
		return nil, err
	}
	return w.C(), nil
}

// Notify implements backend.Notifier. All watches share the store's one connection and its goroutines, which calls wake.
func (s *Store) Notify(ctx context.Context, election string, wake func(open bool)) (stop func(), err error) {
	w := wakeup.NewFunc(s.names.channel(election), wake)
	if err := s.attach(ctx, w); err != nil {
		return nil, err
	}
	return func() { s.watch.remove(w) }, nil
}

// attach begins a watch, once the server will tell of changes.
func (s *Store) attach(ctx context.Context, w *wakeup.Watch) error {
	err := s.usable(ctx)
	if err == nil {
		err = s.watch.add(w) //nolint:contextcheck // the connection is for all watches and outlives this one
	}
	if err != nil {
		return err
	}
	if err = w.Await(ctx, s.timeout, errUnconfirmed); err == nil {
		err = s.watch.bind(ctx, w)
	}
	if err != nil {
		s.watch.remove(w)
		return explain(err)
	}
	return nil
}

// add registers a watcher and sees to its subscription.
func (h *hub) add(w *wakeup.Watch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return backend.ErrClosed
	}
	t := h.topics[w.Topic]
	if t == nil {
		t = &topic{watchers: map[*wakeup.Watch]struct{}{}}
		h.topics[w.Topic] = t
	}
	t.watchers[w] = struct{}{}
	if t.confirmed {
		w.Answer(nil)
	}
	h.begin()
	h.nudge()
	return nil
}

// bind begins the watch, which with a channel ends with ctx.
func (h *hub) bind(ctx context.Context, w *wakeup.Watch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return w.Bind(ctx, func() { h.remove(w) })
}

// remove ends a watch for its caller, at once: the subscription ends later, in the hub's own time. When it has returned the watch's function isn't called any more.
func (h *hub) remove(w *wakeup.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.Ended() {
		return
	}
	w.Unbind()
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
