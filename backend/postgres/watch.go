package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure/internal/wakeup"
)

// errUnheard says that the server didn't take the subscription in time.
var errUnheard = errors.New("there is no connection for wake-ups")

// Watch implements backend.LeaseStore. It returns when the store's connection for wake-ups is subscribed, or fails within the caller's context and Options.Timeout: the
// caller tries again. With Options.NoListen the channel never receives.
func (s *Store) Watch(ctx context.Context, election string) (<-chan struct{}, error) {
	w := wakeup.New(s.topic(election))
	if err := s.attach(ctx, w); err != nil {
		return nil, err
	}
	return w.C(), nil
}

// Notify implements backend.Notifier. All watches share the store's one connection and its goroutine, which calls wake; with Options.NoListen it is told of the store's close alone.
func (s *Store) Notify(ctx context.Context, election string, wake func(open bool)) (stop func(), err error) {
	w := wakeup.NewFunc(s.topic(election), wake)
	if err := s.attach(ctx, w); err != nil {
		return nil, err
	}
	return func() { s.hub.remove(w) }, nil
}

// topic is what notifications name an election by.
func (s *Store) topic(election string) string {
	return encode(s.options.Prefix) + "/" + encode(election)
}

// attach begins a watch, once the server will tell of changes.
func (s *Store) attach(ctx context.Context, w *wakeup.Watch) error {
	_, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	failures := s.hub.add(w, s.options.NoListen) //nolint:contextcheck // the connection is for all watches and outlives this one
	if !s.options.NoListen {
		err = s.hub.await(ctx, failures)
	}
	if err == nil {
		err = s.hub.bind(ctx, w)
	}
	if err != nil {
		s.hub.remove(w)
		return s.explain(err)
	}
	return nil
}

// add registers a watcher, and begins the hub. It returns how often the hub has failed so far.
func (h *hub) add(w *wakeup.Watch, quiet bool) int { //nolint:revive // quiet: without a connection
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		w.End()
		return 0
	}
	if h.watchers[w.Topic] == nil {
		h.watchers[w.Topic] = map[*wakeup.Watch]struct{}{}
	}
	h.watchers[w.Topic][w] = struct{}{}
	if !quiet {
		h.begin()
	}
	return h.failures
}

// await waits until the hub is subscribed, and fails when it fails.
func (h *hub) await(ctx context.Context, failures int) error {
	timer := time.NewTimer(h.timeout)
	defer timer.Stop()
	for {
		h.mu.Lock()
		up, changed, failed, err := h.up, h.changed, h.failures, h.failure
		h.mu.Unlock()
		switch {
		case up:
			return nil
		case failed > failures:
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return fmt.Errorf("%w within %v", errUnheard, h.timeout)
		}
	}
}

// bind begins the watch, which with a channel ends with ctx.
func (h *hub) bind(ctx context.Context, w *wakeup.Watch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return w.Bind(ctx, func() { h.remove(w) })
}

// remove ends a watch for its caller. When it has returned the watch's function isn't called any more.
func (h *hub) remove(w *wakeup.Watch) {
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
	delete(h.watchers[w.Topic], w)
	if len(h.watchers[w.Topic]) == 0 {
		delete(h.watchers, w.Topic)
	}
}
