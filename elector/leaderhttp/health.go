package leaderhttp

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// probeTimeout bounds one look at the store: kubelet's own time-out is 1 s by default, and a slow look must not turn a page red before its time.
const probeTimeout = 800 * time.Millisecond

// breath is how long a pulse that seems to have stopped is given before that is believed: a process that was frozen answers before it has caught up.
const breath = time.Second

// Alive answers 200 while this process should go on living, and 503 when a restart would help: when work outlives its lease, when the elector itself hangs (elector.Health), when the one of a leader has stopped renewing without stepping down, or if Config.AliveWithin
// is set, when the store was not reached for so long. It is independent of who leads: a follower is alive. The first and the third can't be seen without Config.Pulse; and also a subscriber to events that
// blocks looks like the third.
func (s *Site) Alive() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		trouble := s.trouble(r.Context())
		if trouble == "" && s.cfg.AliveWithin > 0 {
			trouble = s.silence(r.Context(), s.cfg.AliveWithin)
		}
		report(w, trouble)
	})
}

// Ready answers 200 while the store was reached within Config.ReadyWithin, and 503 otherwise. It is independent of who leads. What the elector hears of the store counts; when that is too long ago, the page asks who leads, which is
// one request to the store per half of ReadyWithin at most while that answers.
func (s *Site) Ready() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		report(w, s.silence(r.Context(), s.cfg.ReadyWithin))
	})
}

func report(w http.ResponseWriter, trouble string) {
	answer := struct {
		Status string `json:"status"`
		Detail string `json:"detail,omitempty"`
	}{"ok", trouble}
	if trouble == "" {
		write(w, http.StatusOK, "application/json", answer)
		return
	}
	answer.Status = "failing"
	write(w, http.StatusServiceUnavailable, "application/json", answer)
}

func (s *Site) trouble(ctx context.Context) string {
	if s.wrong() == "" {
		return ""
	}
	timer := time.NewTimer(breath)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return s.wrong()
}

// wrong is what seems to be wrong at this moment.
func (s *Site) wrong() string {
	ttl := s.cfg.Elector.Config().TTL
	if late := s.cfg.Elector.Health().Late; late > ttl {
		return fmt.Sprintf("the elector hangs: it is %v late", late.Round(time.Millisecond))
	}
	if s.cfg.Pulse == nil {
		return ""
	}
	return s.cfg.Pulse.trouble(ttl)
}

// silence tells for how long the store was not reached, if that is longer than within.
func (s *Site) silence(ctx context.Context, within time.Duration) string {
	s.mu.Lock() // one probe at a time
	defer s.mu.Unlock()
	if s.cfg.Pulse != nil {
		if t := s.cfg.Pulse.lastReached(); t.After(s.reached) {
			s.reached, s.failure = t, nil
		}
	}
	if time.Since(s.reached) > within/2 {
		s.probe(ctx)
	}
	switch since := time.Since(s.reached); {
	case since <= within:
		return ""
	case s.reached.IsZero():
		return fmt.Sprintf("the store was not reached yet: %v", s.failure)
	default:
		return fmt.Sprintf("the store was last reached %v ago: %v", since.Round(time.Millisecond), s.failure)
	}
}

// probe asks the store; callers hold mu.
func (s *Site) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(probeTimeout, s.cfg.Elector.Config().AttemptTimeout))
	defer cancel()
	if _, err := s.cfg.Elector.Leader(ctx); err != nil {
		s.failure = err
		return
	}
	s.reached, s.failure = time.Now(), nil
}
