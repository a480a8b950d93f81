package conformance

import (
	"context"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// watcher is somebody who observes the election through a candidate.
type watcher struct {
	stage *stage

	mu       sync.Mutex
	seen     []elector.Leader
	failures int
}

// observe follows the election in the background. Each sighting waits for a receive of slow, if that is not nil.
func (s *stage) observe(p *player, slow <-chan struct{}) *watcher {
	w := &watcher{stage: s}
	s.shown.Lock()
	s.watchers = append(s.watchers, w)
	s.shown.Unlock()
	ctx, cancel := context.WithCancel(s.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for l, err := range p.Observe(ctx) {
			w.note(l, err)
			if slow != nil {
				select {
				case <-slow:
				case <-ctx.Done():
				}
			}
		}
	}()
	s.Cleanup(func() { cancel(); <-done })
	return w
}

func (w *watcher) note(l elector.Leader, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.failures++
		return
	}
	w.seen = append(w.seen, l)
}

func (w *watcher) last() (elector.Leader, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) == 0 {
		return elector.Leader{}, false
	}
	return w.seen[len(w.seen)-1], true
}

// notice is how long an observer may take to know of a change.
func (s *stage) notice() time.Duration {
	if s.limits.WakeUp == backend.Timed {
		return s.patience()
	}
	return generous
}

// knows waits until the observer knows that r leads.
func (w *watcher) knows(r *reign) {
	w.stage.await(w.stage.notice(), "an observer knows the present leader", func() bool {
		l, ok := w.last()
		return ok && l.Candidate.ID == r.player.id && l.Token == r.token.Value
	})
}

// knowsNobody waits until the observer knows that nobody leads.
func (w *watcher) knowsNobody() {
	w.stage.await(w.stage.notice(), "an observer knows that nobody leads", func() bool {
		l, ok := w.last()
		return ok && l.Nobody()
	})
}
