package redis

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// hub is the store's one pub/sub connection, shared by all its watches. It begins with the first watch.
//
// The driver's own health check writes a PING and takes the write for an answer, so that a connection whose other end is gone stays deaf for long. The hub waits for
// the answer instead, and opens a new connection when none comes.
type hub struct {
	client  goredis.UniversalClient
	timeout time.Duration // for an answer
	ping    time.Duration // silence after which an answer is asked for
	changed chan struct{} // room for one: topics or asked have changed
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	cancel context.CancelFunc // nil: not begun
	topics map[string]*topic  // by channel
	heard  time.Time          // when the connection last said something
	asked  time.Time          // when it was asked for something that it has not said yet; zero: nothing
}

const (
	firstPause = 20 * time.Millisecond
	longPause  = time.Second
	steady     = time.Second // a connection that lived this long ended by an accident, not by a fault that comes back at once
)

// errSilent says that a connection was found dead.
var errSilent = errors.New("the pub/sub connection doesn't answer")

func newHub(client goredis.UniversalClient, timeout, ping time.Duration) *hub {
	return &hub{client: client, timeout: timeout, ping: ping, changed: make(chan struct{}, 1), topics: map[string]*topic{}}
}

// begin starts the hub with its first watch; callers hold mu.
func (h *hub) begin() {
	if h.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	h.running.Go(func() { h.run(ctx) })
}

// nudge makes the hub look at its topics.
func (h *hub) nudge() {
	select {
	case h.changed <- struct{}{}:
	default: // it will look anyway
	}
}

// close ends all watches. Connections end a little later, see wait.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, t := range h.topics {
		t.answer(backend.ErrClosed)
		for w := range t.watchers {
			h.drop(w)
		}
	}
	if h.cancel != nil {
		h.cancel()
	}
}

func (h *hub) wait() { h.running.Wait() }

// run keeps a connection until the hub is closed.
func (h *hub) run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		err := h.session(ctx)
		if time.Since(began) > steady {
			failures = 0
		}
		failures++
		h.refuse(err, failures)
		pause := min(firstPause<<min(failures-1, 10), longPause)
		select {
		case <-time.After(pause/2 + rand.N(pause/2+1)): // spread, since all clients lose their connections at once
		case <-ctx.Done():
		}
	}
}

// refuse tells the watches that wait for their subscription why there is none. A first lost connection says little; what the server says, and what happens twice,
// does.
func (h *hub) refuse(err error, failures int) {
	if reply := goredis.Error(nil); !errors.As(err, &reply) && failures < 2 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.topics {
		if !t.confirmed {
			t.answer(err)
		}
	}
}

// session is one connection from its first subscription to its end.
func (h *hub) session(ctx context.Context) error {
	h.mu.Lock()
	h.heard, h.asked = time.Now(), time.Time{}
	h.mu.Unlock()
	ps := h.client.Subscribe(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer ps.Close()
	broken := make(chan error, 1)
	subscribed := map[string]bool{}
	reads := false
	timer := time.NewTimer(h.ping)
	defer timer.Stop()
	for {
		if err := h.settle(ctx, ps, subscribed); err != nil {
			return err
		}
		if !reads && len(subscribed) > 0 { // earlier there is no connection
			reads = true
			reading.Go(func() { broken <- h.read(ctx, ps) })
		}
		timer.Reset(h.due())
		select {
		case <-h.changed:
		case err := <-broken:
			return err
		case <-timer.C:
			if err := h.look(ctx, ps); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settle makes the server's subscriptions those that have watchers.
func (h *hub) settle(ctx context.Context, ps *goredis.PubSub, subscribed map[string]bool) error {
	var add, end []string
	h.mu.Lock()
	for channel, t := range h.topics {
		switch {
		case len(t.watchers) == 0:
			delete(h.topics, channel)
			if subscribed[channel] {
				end = append(end, channel)
				delete(subscribed, channel)
			}
		case !subscribed[channel]:
			add = append(add, channel)
			subscribed[channel] = true
		}
	}
	if len(add) > 0 {
		h.ask()
	}
	h.mu.Unlock()
	if len(end) > 0 {
		if err := ps.Unsubscribe(ctx, end...); err != nil {
			return err
		}
	}
	if len(add) > 0 {
		return ps.Subscribe(ctx, add...)
	}
	return nil
}

// ask notes that an answer is expected; callers hold mu.
func (h *hub) ask() {
	if h.asked.IsZero() {
		h.asked = time.Now()
	}
}

// due is how long the connection may stay as it is before it needs a look.
func (h *hub) due() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.asked.IsZero() {
		return time.Until(h.asked.Add(h.timeout))
	}
	if len(h.topics) == 0 {
		return h.ping
	}
	return time.Until(h.heard.Add(h.ping))
}

// look asks a silent connection for an answer, and gives it up when the last one didn't come.
func (h *hub) look(ctx context.Context, ps *goredis.PubSub) error {
	h.mu.Lock()
	now := time.Now()
	silent := !h.asked.IsZero() && now.Sub(h.asked) >= h.timeout
	quiet := h.asked.IsZero() && len(h.topics) > 0 && now.Sub(h.heard) >= h.ping
	if quiet {
		h.ask()
	}
	h.mu.Unlock()
	switch {
	case silent:
		return errSilent
	case quiet:
		return ps.Ping(ctx)
	}
	return nil
}

// read passes on what the server says until the connection ends.
func (h *hub) read(ctx context.Context, ps *goredis.PubSub) error {
	for {
		message, err := ps.Receive(ctx)
		if err != nil {
			return err
		}
		h.hear(message)
	}
}

func (h *hub) hear(message any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.asked.IsZero() {
		h.nudge() // the time of the next look has changed
	}
	h.heard, h.asked = time.Now(), time.Time{}
	switch m := message.(type) {
	case *goredis.Subscription:
		if t := h.topics[m.Channel]; t != nil && m.Kind == "subscribe" {
			t.confirm()
		}
	case *goredis.Message:
		if t := h.topics[m.Channel]; t != nil {
			t.wake()
		}
	}
}
