package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// preflight looks at the server's settings once, behind the first call that succeeds.
type preflight struct {
	begun   atomic.Bool // under way or done
	running sync.WaitGroup
	cancel  context.CancelFunc
	start   func() // begins a look

	mu      sync.Mutex
	stopped bool
	fixed   []string // about the client
	found   []string // about the server
	refused error    // why this kind of server can't keep leases
}

func (p *preflight) init(client goredis.UniversalClient) {
	life, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.fixed = clientWarnings(client)
	p.start = func() {
		if p.look(life, client) != nil {
			p.begun.Store(false) // the next contact tries again
		}
	}
}

// contact is called after each call that succeeded.
func (s *Store) contact() {
	p := &s.check
	if p.begun.Load() || !p.begun.CompareAndSwap(false, true) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.running.Go(p.start)
	}
}

// strict looks now, and makes every warning an error.
func (p *preflight) strict(ctx context.Context, client goredis.UniversalClient) error {
	p.begun.Store(true)
	if err := p.look(ctx, client); err != nil {
		return fmt.Errorf("strict=1 asks the server before it is used: %w", explain(err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.found) > 0 {
		return fmt.Errorf("%w: strict=1 turns these warnings into errors: %s", backend.ErrInvalid, strings.Join(p.found, " "))
	}
	return nil
}

// look asks the server and keeps what it finds. A user who may not ask is a finding too.
func (p *preflight) look(ctx context.Context, client goredis.UniversalClient) error {
	text, err := client.Info(ctx).Result()
	var found []string
	var refused error
	switch {
	case err == nil:
		found, refused = judge(parseInfo(text))
	case strings.Contains(err.Error(), "NOPERM"):
		found = []string{"The user may not run INFO, so the server's version, role and eviction policy are not known: allow +info."}
	default:
		return err
	}
	before := time.Now()
	theirs, err := client.Time(ctx).Result()
	switch {
	case err == nil:
		found = append(found, clockWarning(theirs, before, time.Now())...)
	case !strings.Contains(err.Error(), "NOPERM"):
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found, p.refused = found, refused
	if refused != nil {
		p.found = append(p.found, refused.Error())
	}
	return nil
}

func (p *preflight) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.cancel()
}

func (p *preflight) wait() { p.running.Wait() }

// Warnings implements backend.Warner. What concerns the server is known soon after the first call that succeeded.
func (s *Store) Warnings() []string {
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	return append(append([]string(nil), s.check.fixed...), s.check.found...)
}

// barred tells why no lease may be acquired on this server.
func (s *Store) barred() error {
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	return s.check.refused
}

// errMultiMaster says that several servers accept writes to the same record.
var errMultiMaster = errors.New("the server is an active replica: several servers grant the same election at once; use one master")
