package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/clock"
)

// preflight looks at the server's settings once, behind the first call that succeeds.
type preflight struct {
	begun   atomic.Bool // under way or done
	running sync.WaitGroup
	cancel  context.CancelFunc
	start   func() // begins a look
	acks    int    // replicas that must acknowledge
	plain   bool   // the client knows one server only

	mu      sync.Mutex
	stopped bool
	fixed   []string // about the client
	found   []string // about the server
	refused error    // why this kind of server can't keep leases
}

func (p *preflight) init(client goredis.UniversalClient, wait int) {
	life, cancel := context.WithCancel(context.Background())
	p.cancel, p.acks = cancel, wait
	p.fixed = clientWarnings(client)
	_, p.plain = client.(*goredis.Client)
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

// look asks the server, or every master of a cluster, and keeps what it finds.
func (p *preflight) look(ctx context.Context, client goredis.UniversalClient) error {
	var found []string
	var refused error
	var err error
	if c, ok := client.(*goredis.ClusterClient); ok {
		var mu sync.Mutex // masters are asked at the same time
		err = c.ForEachMaster(ctx, func(ctx context.Context, node *goredis.Client) error {
			f, r, err := p.inspect(ctx, node)
			mu.Lock()
			defer mu.Unlock()
			found, refused = append(found, f...), cmp.Or(refused, r)
			return err
		})
	} else {
		found, refused, err = p.inspect(ctx, client)
	}
	if err != nil {
		return err
	}
	slices.Sort(found)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found, p.refused = slices.Compact(found), refused
	if refused != nil {
		p.found = append(p.found, refused.Error())
	}
	return nil
}

// inspect looks at one server. A user who may not ask is a finding too.
func (p *preflight) inspect(ctx context.Context, client goredis.UniversalClient) (found []string, refused, err error) {
	text, err := client.Info(ctx).Result()
	switch {
	case err == nil:
		info := parseInfo(text)
		found, refused = judge(info, p.acks)
		if p.plain && info["cluster_enabled"] == "1" {
			found = append(found, "The server is a node of a cluster, where it has a part of the elections only: use redis+cluster.")
		}
	case strings.Contains(err.Error(), "NOPERM"):
		found = []string{"The user may not run INFO, so the server's version, role and eviction policy are not known: allow +info."}
	default:
		return nil, nil, err
	}
	config, err := client.ConfigGet(ctx, "a*").Result()
	if reply := goredis.Error(nil); errors.As(err, &reply) { // many servers and rules refuse
		found = append(found, "CONFIG GET is refused, so it is not known what a crash of the server's host may lose: allow +config|get, and set appendfsync always.")
	} else if err != nil {
		return nil, nil, err
	}
	more, bad := judgeConfig(config)
	found, refused = append(found, more...), cmp.Or(refused, bad)
	before := time.Now()
	theirs, err := client.Time(ctx).Result()
	switch {
	case err == nil:
		found = append(found, clock.SkewWarning(theirs, before, time.Now())...)
	case !strings.Contains(err.Error(), "NOPERM"):
		return nil, nil, err
	}
	return found, refused, nil
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
