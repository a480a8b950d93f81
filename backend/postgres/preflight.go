package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// preflight looks at the server's settings once, behind the first call that succeeds, or in Open.
type preflight struct {
	begun atomic.Bool // under way or done

	mu    sync.Mutex
	fixed []string // about the pool
	found []string // about the server
}

// Warnings implements backend.Warner. What concerns the server is known soon after the first call that succeeded.
func (s *Store) Warnings() []string {
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	return append(append([]string(nil), s.check.fixed...), s.check.found...)
}

// contact is called after each call that succeeded.
func (s *Store) contact() {
	if s.check.begun.Load() || !s.check.begun.CompareAndSwap(false, true) {
		return
	}
	ctx, end, err := s.begin(s.life)
	if err != nil {
		return // the store is closed
	}
	go func() {
		defer end()
		if _, err := s.look(ctx); err != nil {
			s.check.begun.Store(false) // the next contact tries again
		}
	}()
}

// firstLook is for Open: it learns whether wake-ups come through, which Limits tells.
func (s *Store) firstLook(ctx context.Context) error {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if _, err := s.prepare(ctx); err != nil {
		return fmt.Errorf("strict=1 asks the server before it is used: %w", err)
	}
	deaf, err := s.look(ctx)
	if err != nil {
		return fmt.Errorf("strict=1 asks the server before it is used: %w", s.explain(err))
	}
	s.check.begun.Store(true)
	if deaf {
		s.options.NoListen = true
	}
	if s.options.NoListen {
		s.limits.WakeUp = backend.Timed
	}
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	if len(s.check.found) > 0 {
		return fmt.Errorf("%w: strict=1 turns these warnings into errors: %s", backend.ErrInvalid, strings.Join(s.check.found, " "))
	}
	return nil
}

// look asks the server and keeps what it finds. deaf means that notifications don't come through.
func (s *Store) look(ctx context.Context) (deaf bool, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	before := time.Now()
	all, err := s.exchange(ctx, conn, []statement{{settingsQuery, []string{s.options.Schema}}})
	if err != nil {
		return false, err
	}
	v, err := parseSettings(all[0])
	if err != nil {
		return false, err
	}
	found := append(v.judge(), clock.SkewWarning(v.now, before, time.Now())...)
	pg := conn.Conn().PgConn()
	found = append(found, plainWarning(pg.Conn())...)
	if c := s.pool.Config().ConnConfig; v.synchronous && c.OnNotice == nil {
		found = append(found, "The server has synchronous replicas, and the pool doesn't tell when it stops to wait for them: set ConnConfig.OnNotice to postgres.Notice.")
	}
	if pg.PID() != v.pid && !s.options.NoListen { // a pooler answers in the server's place
		heard, err := s.heard(ctx)
		if err != nil {
			return false, err
		}
		if deaf = !heard; deaf {
			found = append(found, "A pooler in transaction mode stands between, through which no wake-ups come, so that followers wait for the lease's end: "+
				"give the server's own address, or accept it with listen=0.")
		}
	}
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	s.check.found = found
	return deaf, nil
}

// earshot is how long a notification may take.
const earshot = 500 * time.Millisecond

// heard reports whether a notification comes through: one is sent on another connection, since a pooler passes on what comes in reply to a statement.
func (s *Store) heard(ctx context.Context) (bool, error) {
	probe := "tenure_" + strings.ToLower(rand.Text())
	came := false
	conn, err := connect(ctx, s.pool, s.options.Timeout, func(_ *pgconn.PgConn, n *pgconn.Notification) { came = came || n.Channel == probe })
	if err != nil {
		return false, err
	}
	defer hang(conn) //nolint:contextcheck // the context may have ended by then
	if err := s.hub.ask(ctx, conn, "LISTEN "+probe); err != nil {
		return false, err
	}
	if _, err := s.read(ctx, statement{"SELECT pg_notify($1, '')", []string{probe}}); err != nil {
		return false, err
	}
	quiet, cancel := context.WithTimeout(ctx, earshot)
	defer cancel()
	if err := conn.WaitForNotification(quiet); err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return false, err
	}
	_ = s.hub.ask(ctx, conn, "UNLISTEN "+probe) // the pooler may keep the connection for others
	return came, nil
}
