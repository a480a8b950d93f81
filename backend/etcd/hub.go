package etcd

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/wakeup"
)

// hub is the store's one watch of all elections' keys below the prefix, shared by all its watches. It begins with the first of them.
//
// The driver takes a stream up again after an error, but not one whose other end is silent. So the hub asks a silent stream for a sign of life, and opens a new one, at the
// next member, when none comes.
type hub struct {
	s       *Store
	ping    time.Duration // silence after which a sign of life is asked for
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	cancel  context.CancelFunc     // nil: not begun
	open    bool                   // the server has confirmed the stream that is used now
	topics  map[string]*topic      // by the election's base key
	waiting map[*wakeup.Watch]bool // for the stream
}

const steady = time.Second // a stream that lived this long ended by an accident, not by a fault that comes back at once

// errSilent says that a stream was found dead.
var errSilent = errors.New("the stream of the watches gives no sign of life")

func newHub(s *Store, ping time.Duration) *hub {
	return &hub{s: s, ping: ping, topics: map[string]*topic{}, waiting: map[*wakeup.Watch]bool{}}
}

// begin starts the hub with its first watch; callers hold mu.
func (h *hub) begin() {
	if h.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(h.s.life)
	h.cancel = cancel
	h.running.Go(func() { h.run(ctx) })
}

// close ends all watches. The stream ends a little later, see wait.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.answer(backend.ErrClosed)
	for _, t := range h.topics {
		for _, w := range slices.Clone(t.watchers) {
			h.drop(w)
		}
	}
	if h.cancel != nil {
		h.cancel()
	}
}

// follows reports whether an election is watched on a stream that the server has confirmed.
func (h *hub) follows(base string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open && h.topics[base] != nil
}

func (h *hub) wait() { h.running.Wait() }

// run keeps a stream until the hub is closed.
func (h *hub) run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		err := h.serve(ctx)
		if time.Since(began) > steady {
			failures = 0
		}
		failures++
		if h.s.login != nil && expired(err) {
			err = h.login(ctx)
		}
		h.lost(err, failures)
		pause := min(firstPause<<min(failures-1, 10), time.Second)
		select {
		case <-time.After(pause/2 + rand.N(pause/2+1)): // spread, since all clients lose their streams at once
		case <-ctx.Done():
		}
	}
}

// login asks for a new token, with which the next stream may be opened.
func (h *hub) login(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.s.timeout)
	defer cancel()
	return h.s.login.renew(ctx, h.s.client, h.s.login.current())
}

// lost notes that there is no stream, and tells the watches that wait for one why. A first failure says little; what the server says, and what happens twice, does.
func (h *hub) lost(err error, failures int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = false
	if err != nil && (final(err) && !expired(err) || failures > 1) {
		h.answer(err)
	}
}

// serve keeps one stream from its opening to its end.
func (h *hub) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := clientv3.NewWatcher(h.s.client) // of its own, so that its stream is a new one
	defer watch.Close()
	ctx = clientv3.WithRequireLeader(ctx)
	opening := time.AfterFunc(h.s.timeout, cancel) // the driver waits for ever for a member that hangs
	events := watch.Watch(ctx, h.s.names.root, h.s.names.elections(), clientv3.WithCreatedNotify())
	asked := false
	timer := time.NewTimer(h.ping)
	defer timer.Stop()
	for {
		select {
		case r, ok := <-events:
			switch {
			case !ok:
				return errSilent
			case r.Err() != nil:
				return r.Err()
			case r.Created:
				opening.Stop()
				h.opened()
			}
			h.hear(r.Events)
			asked = false
			timer.Reset(h.ping)
		case <-timer.C:
			if asked {
				return errSilent
			}
			asked = true
			if err := h.ask(ctx, watch); err != nil {
				return err
			}
			timer.Reset(h.s.timeout)
		case <-ctx.Done():
			return errSilent
		}
	}
}

// ask wants a sign of life.
func (h *hub) ask(ctx context.Context, watch clientv3.Watcher) error {
	ctx, cancel := context.WithTimeout(ctx, h.s.timeout)
	defer cancel()
	return watch.RequestProgress(ctx)
}

// opened notes that the server has confirmed the stream. Changes since the last one have gone unheard.
func (h *hub) opened() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = true
	for _, t := range h.topics {
		t.value, t.known = "", false
		t.wake()
	}
	h.answer(nil)
}

// hear wakes the watches of the elections that have changed. A leader key that is put again with the same value was moved to another etcd lease, which is no change.
func (h *hub) hear(events []*clientv3.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		key := string(e.Kv.Key)
		base := key[:strings.LastIndexByte(key, '/')+1]
		t := h.topics[base]
		if t == nil {
			continue
		}
		if key == base+"leader" && !t.changed(string(e.Kv.Value)) {
			continue
		}
		t.wake()
	}
}
