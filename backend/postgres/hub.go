package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/internal/wakeup"
)

// hub is the store's one connection for wake-ups, shared by all its watches. It begins with the first watch. Each notification names an election; to wake one watcher too many does no
// harm, so all stores of a database share one channel.
type hub struct {
	pool    *pgxpool.Pool
	timeout time.Duration // for an answer
	ping    time.Duration // silence after which an answer is asked for
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	cancel   context.CancelFunc // nil: not begun
	watchers map[string]map[*wakeup.Watch]struct{}
	up       bool
	failures int
	failure  error
	changed  chan struct{} // closed, and made anew, when up or failures change
}

const (
	channel    = "tenure_lease"
	firstPause = 20 * time.Millisecond
	longPause  = time.Second
	steady     = time.Second // a connection that lived this long ended by an accident, not by a fault that comes back at once
	ping       = 20 * time.Second
	hangUp     = 100 * time.Millisecond
)

func newHub(pool *pgxpool.Pool, timeout time.Duration) *hub {
	return &hub{pool: pool, timeout: timeout, ping: ping, watchers: map[string]map[*wakeup.Watch]struct{}{}, changed: make(chan struct{})}
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

// close ends all watches. The connection ends a little later, see wait.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, set := range h.watchers {
		for w := range set {
			h.drop(w)
		}
	}
	if h.cancel != nil {
		h.cancel()
	}
	h.tell()
}

func (h *hub) wait() { h.running.Wait() }

// tell makes those who await a change look; callers hold mu.
func (h *hub) tell() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// run keeps a connection until the hub is closed.
func (h *hub) run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		err := h.serve(ctx)
		if time.Since(began) > steady {
			failures = 0
		}
		failures++
		h.down(err)
		pause := min(firstPause<<min(failures-1, 10), longPause)
		timer := time.NewTimer(pause/2 + rand.N(pause/2+1)) // spread, since all clients lose their connections at once
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

func (h *hub) down(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up, h.failure = false, err
	h.failures++
	h.tell()
}

// serve keeps one connection from its subscription to its end.
func (h *hub) serve(ctx context.Context) error {
	conn, err := h.connect(ctx)
	if err != nil {
		return err
	}
	defer hang(conn) //nolint:contextcheck // the context may have ended by then
	if err := h.ask(ctx, conn, "LISTEN "+channel); err != nil {
		return err
	}
	h.subscribed()
	for {
		if err := h.listen(ctx, conn); err != nil {
			return err
		}
		if err := h.ask(ctx, conn, ""); err != nil { // an empty query: nobody notices a dead connection otherwise
			return err
		}
	}
}

// connect makes a connection as the pool's are made.
func (h *hub) connect(ctx context.Context) (*pgconn.PgConn, error) {
	return connect(ctx, h.pool, h.timeout, func(_ *pgconn.PgConn, n *pgconn.Notification) { h.hear(n.Payload) })
}

func connect(ctx context.Context, pool *pgxpool.Pool, timeout time.Duration, hear pgconn.NotificationHandler) (*pgconn.PgConn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	config := pool.Config()
	c := config.ConnConfig.Copy()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(ctx, c); err != nil {
			return nil, err
		}
	}
	c.OnNotification = hear
	if each := perHost(&c.Config, timeout); c.ConnectTimeout == 0 || c.ConnectTimeout > each {
		c.ConnectTimeout = each
	}
	return pgconn.ConnectConfig(ctx, &c.Config)
}

// hang ends a connection, politely if the server is quick.
func hang(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), hangUp)
	defer cancel()
	_ = conn.Close(ctx) // it is given up
}

// ask runs a statement for which an answer must come in time.
func (h *hub) ask(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	_, err := conn.Exec(ctx, sql).ReadAll()
	return err
}

// listen reads notifications until there was none for a while.
func (h *hub) listen(ctx context.Context, conn *pgconn.PgConn) error {
	for {
		quiet, cancel := context.WithTimeout(ctx, h.ping)
		err := conn.WaitForNotification(quiet)
		silent := quiet.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && silent && !conn.IsClosed() && errors.Is(err, context.DeadlineExceeded):
			return nil
		case err != nil:
			return err
		}
	}
}

// subscribed says that from here on every change is heard. There may have been a gap before.
func (h *hub) subscribed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up = true
	h.wakeAll()
	h.tell()
}

// wakeAll wakes every watcher; callers hold mu.
func (h *hub) wakeAll() {
	for _, set := range h.watchers {
		for w := range set {
			w.Wake()
		}
	}
}

// hear passes a notification on. An empty one is about all elections.
func (h *hub) hear(payload string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if payload == "" {
		h.wakeAll()
	}
	for w := range h.watchers[payload] {
		w.Wake()
	}
}
