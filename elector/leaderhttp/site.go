package leaderhttp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// Config says for which election a Site speaks. Elector is required.
type Config struct {
	// Elector takes part in the election, or only looks on.
	Elector *elector.Elector
	// Duty, if set, is what the elector's Run leads by: requests are work under its term.
	Duty *elector.Duty
	// Pulse, if set, is what the elector's Config.Events tells. Without one, Alive can't see that the elector's heart has stopped.
	Pulse *Pulse
	// ReadyWithin is how long ago the store must have been reached for Ready to be green; default two TTLs.
	ReadyWithin time.Duration
	// AliveWithin is the same for Alive; zero, the default: liveness doesn't depend on the store, since a restart doesn't mend it.
	AliveWithin time.Duration
	// Transport carries forwarded requests; by default one of the site's own, which uses no proxy and gives up dialling after one TTL.
	Transport http.RoundTripper
	// Logger gets what goes wrong with forwarding; default slog.Default().
	Logger *slog.Logger
}

// Site answers HTTP requests by who leads an election. Make one with New and keep Run going; it is safe for concurrent use.
type Site struct {
	cfg    Config
	own    *http.Transport // nil with a Transport of the user's
	leader atomic.Pointer[elector.Leader]

	mu      sync.Mutex
	reached time.Time // when a probe last reached the store
	failure error     // of the last probe
}

// New returns a site. It returns an error that wraps backend.ErrInvalid when the configuration makes no sense, or when the elector's own Candidate.Address is set and others couldn't forward to it. It does not contact the
// store.
func New(cfg Config) (*Site, error) {
	if cfg.Elector == nil {
		return nil, fmt.Errorf("leaderhttp: Config.Elector: %w: it is nil", backend.ErrInvalid)
	}
	if cfg.ReadyWithin < 0 || cfg.AliveWithin < 0 {
		return nil, fmt.Errorf("leaderhttp: Config: %w: ReadyWithin %v and AliveWithin %v must not be negative", backend.ErrInvalid, cfg.ReadyWithin, cfg.AliveWithin)
	}
	ec := cfg.Elector.Config()
	if address := ec.Candidate.Address; address != "" {
		if _, err := target(address); err != nil {
			return nil, fmt.Errorf("leaderhttp: Candidate.Address: %w", err)
		}
	}
	if cfg.ReadyWithin == 0 {
		cfg.ReadyWithin = 2 * ec.TTL
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	s := &Site{cfg: cfg}
	if cfg.Transport == nil {
		s.own = &http.Transport{
			DialContext:       (&net.Dialer{Timeout: ec.TTL}).DialContext,
			ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		}
		s.cfg.Transport = s.own
	}
	return s, nil
}

// Run follows who leads until ctx ends, and returns ctx's cause. Errors of the store are survived. Without it a site doesn't know whom to forward to.
func (s *Site) Run(ctx context.Context) error {
	if s.own != nil {
		defer s.own.CloseIdleConnections()
	}
	for l, err := range s.cfg.Elector.Observe(ctx) {
		if err == nil {
			s.leader.Store(&l)
		}
	}
	s.leader.Store(nil)
	return context.Cause(ctx)
}

// known returns who leads, as far as known: a zero Leader when that is nobody or unknown.
func (s *Site) known() elector.Leader {
	if l := s.leader.Load(); l != nil && !l.Nobody() {
		return *l
	}
	return elector.Leader{}
}

// itself reports whether this process leads right now.
func (s *Site) itself() bool {
	if s.cfg.Duty != nil {
		return s.cfg.Duty.Term() != nil
	}
	return s.cfg.Elector.Leading()
}
