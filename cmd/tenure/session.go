package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// session is one 'tenure run', from its start to its exit. Its methods run on one goroutine.
type session struct {
	*runOptions
	elector *elector.Elector
	contact *contact
	log     *slog.Logger
	signals <-chan os.Signal
	renewed chan struct{} // a deadline has moved

	stop  os.Signal // the first TERM or INT
	hurry bool      // a second one: wait for nothing that runs out by itself

	warned []string // what the store warns of, as told
}

func (a *app) run(o *runOptions) error {
	signals, end := catch()
	defer end()
	store, err := a.open(context.Background())
	if err != nil {
		return err
	}
	log := a.logger(slog.LevelInfo)
	if a.passwordShows() {
		log.Warn("the password in --store shows in the process list: give the URL in " + storeVariable)
	}
	if a.choseNone() {
		log.Info("no store is given: only processes of this user on this machine take part; for several machines set " + storeVariable)
	}
	s := &session{runOptions: o, log: log, signals: signals, renewed: make(chan struct{}, 1)}
	s.contact = &contact{LeaseStore: store, log: log}
	defer s.close()
	cfg := s.config(a.logger(slog.LevelError))
	if err := o.apply(&cfg, store); err != nil {
		return err
	}
	s.elector, err = newElector(cfg)
	if err != nil {
		return err
	}
	return s.loop()
}

func (s *session) config(log *slog.Logger) elector.Config {
	return elector.Config{
		Store: s.contact, Election: s.election, Candidate: s.candidate(), TTL: s.ttl,
		DrainTimeout: max(30*time.Second, s.grace+2*stuckAfter), // of a hand-over
		Logger:       log,                                       // quiet: what matters is told by the session
		Events: func(e elector.Event) {
			if e.Kind != elector.Renewed {
				return
			}
			select {
			case s.renewed <- struct{}{}:
			default:
			}
		},
	}
}

// loop leads term after term until there is a reason to exit.
func (s *session) loop() error {
	for {
		term, err := s.campaign()
		if err != nil {
			return err
		}
		e := s.serve(term)
		if errors.Is(e.err, errStuck) {
			s.hurry = true // nothing may be released under what still runs
			return exit(exitInternal, "%w", e.err)
		}
		s.giveBack(term)
		switch {
		case e.final:
			return e.exit()
		case s.once && handedOver(e.err):
			return exit(exitLost, "the election was given up: %w", e.err)
		case s.once:
			return exit(exitLost, "the lease was lost: %w", e.err)
		}
		if e.pause > 0 {
			s.idle(e.pause)
		}
	}
}

// warn tells what the store has found out about its server, each thing once. A store may know only some time after its first answer.
func (s *session) warn() {
	warner, ok := backend.As[backend.Warner](s.contact)
	if !ok {
		return
	}
	for _, w := range warner.Warnings() {
		if !slices.Contains(s.warned, w) {
			s.warned = append(s.warned, w)
			s.log.Warn("the store endangers leases", slog.String("warning", w))
		}
	}
}

// giveBack waits until the lease is released, or has run out. A second TERM doesn't wait.
func (s *session) giveBack(term *elector.Term) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.patiently(func() { _ = term.Resign(ctx) }) // it fails only when we give up waiting
}

// close leaves nothing behind: no claim at the store, no connection.
func (s *session) close() {
	s.patiently(func() {
		if s.elector != nil {
			_ = s.elector.Close() // always nil
		}
		if err := s.contact.Close(); err != nil {
			s.log.Debug("the store was not closed properly", slog.Any("error", err))
		}
	})
}

// patiently waits for f, but not after a second TERM or INT.
func (s *session) patiently(f func()) {
	if s.hurry {
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for {
		select {
		case <-done:
			return
		case sig := <-s.signals:
			if s.stop != nil && ends(sig) {
				s.hurry = true
				return
			}
			s.noteStop(sig)
		}
	}
}

// idle waits, so that a fault of this machine doesn't make it campaign in a tight loop.
func (s *session) idle(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for s.stop == nil {
		select {
		case <-timer.C:
			return
		case sig := <-s.signals:
			s.noteStop(sig)
		}
	}
}

// noteStop takes note of a signal while no command runs.
func (s *session) noteStop(sig os.Signal) {
	if s.stop == nil && endsIdle(sig) {
		s.stop = sig
	}
}

// newElector makes an elector and puts its complaints in terms of flags.
func newElector(cfg elector.Config) (*elector.Elector, error) {
	limits := cfg.Store.Limits()
	switch {
	case cfg.TTL < limits.MinTTL:
		return nil, usage("--ttl: %v is below the %s store's minimum %v; give a longer one", cfg.TTL, limits.Store, limits.MinTTL)
	case cfg.TTL > limits.MaxTTL:
		return nil, usage("--ttl: %v is above the %s store's maximum %v; give a shorter one", cfg.TTL, limits.Store, limits.MaxTTL)
	}
	e, err := elector.New(cfg)
	if err == nil {
		return e, nil
	}
	if least := shortest(cfg); least > cfg.TTL {
		return nil, usage("--ttl: %v leaves no time for two attempts to renew before the command has to end; give at least %v", cfg.TTL, least)
	}
	return nil, usage("%s", plainly(err))
}

// shortest is the least TTL, to the tenth of a second, that the elector takes; zero if something else is wrong with the configuration.
func shortest(cfg elector.Config) time.Duration {
	for cfg.TTL = cfg.Store.Limits().MinTTL.Round(100 * time.Millisecond); cfg.TTL < time.Minute; cfg.TTL += 100 * time.Millisecond {
		if cfg.TTL > 0 && cfg.Validate() == nil {
			return cfg.TTL
		}
	}
	return 0
}
