package consul

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

// preflight looks at the settings of the agent once, behind the first call that succeeds.
type preflight struct {
	begun   atomic.Bool // under way or done
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	findings findings
}

// findings is what an agent's settings say.
type findings struct {
	denied bool     // it doesn't tell
	bad    []string // what endangers leases
}

// agent is the part of an agent's description of itself that matters here.
type agent struct {
	Config      struct{ Version string }
	DebugConfig struct {
		DevMode       bool
		SessionTTLMin string
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
	if p.closed {
		return
	}
	p.running.Go(func() {
		ctx, cancel := context.WithTimeout(s.life, s.timeout)
		defer cancel()
		if _, err := s.inspect(ctx); err != nil {
			p.begun.Store(false) // the next contact tries again
		}
	})
}

// inspect asks the agent for its settings and keeps what it finds.
func (s *Store) inspect(ctx context.Context) (findings, error) {
	var f findings
	var a agent
	_, err := s.client.Raw().Query("/v1/agent/self", &a, new(api.QueryOptions).WithContext(ctx))
	switch {
	case err == nil:
		f.bad = judgeAgent(a)
	case backend.ClassOf(explain(err)) == backend.Denied:
		f.denied = true
	default:
		return f, err
	}
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	s.check.findings = f
	return f, nil
}

// strict looks now, and makes what endangers leases an error.
func (s *Store) strict(ctx context.Context) error {
	s.check.begun.Store(true)
	f, err := s.inspect(ctx)
	if err == nil && len(f.bad) > 0 {
		err = fmt.Errorf("%w: strict=1 turns these warnings into errors: %s", backend.ErrInvalid, strings.Join(f.bad, " "))
	}
	return err
}

// judgeAgent finds what endangers leases. Settings that an agent doesn't tell are not judged.
func judgeAgent(a agent) (bad []string) {
	if v := a.Config.Version; olderThan(v, 1, 14) {
		bad = append(bad, fmt.Sprintf("The agent is Consul %s; the oldest that is supported is 1.14: upgrade it, and the servers.", v))
	}
	if a.DebugConfig.DevMode {
		bad = append(bad, "The server runs in development mode and loses live leases and their tokens when it ends: start it with a data_dir, without -dev.")
	}
	if least, err := time.ParseDuration(a.DebugConfig.SessionTTLMin); err == nil && least > sessionTTL {
		bad = append(bad, fmt.Sprintf("session_ttl_min is %v, so that every grant is refused: set it to at most %v on all servers.", least, sessionTTL))
	}
	return bad
}

// olderThan reports whether a version is below major.minor. What is no version is not.
func olderThan(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	a, err1 := strconv.Atoi(first)
	b, err2 := strconv.Atoi(second)
	return err1 == nil && err2 == nil && (a < major || a == major && b < minor)
}

func (p *preflight) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.running.Wait()
}

// Warnings implements backend.Warner. What concerns the server is known soon after the first call that succeeded.
func (s *Store) Warnings() []string {
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	if s.check.findings.denied {
		return []string{"The token may not read the agent, so its version and settings are not known: allow agent_prefix \"\" { policy = \"read\" }."}
	}
	return append([]string(nil), s.check.findings.bad...)
}
