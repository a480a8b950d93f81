package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// Why a campaign was given up.
var (
	errWaited = errors.New("--wait has passed")
	errAway   = errors.New("the store does not answer")
)

// signalled is the end of a campaign by a signal.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return "ended by signal: " + s.String() }

// lookEvery is how often a waiting candidate looks whether it has waited long enough for the store.
const lookEvery = 100 * time.Millisecond

// campaign waits until this candidate leads. Its error says how to exit.
func (s *session) campaign() (*elector.Term, error) {
	if s.stop != nil {
		return nil, &exitError{code: signalCode(s.stop)}
	}
	type result struct {
		term *elector.Term
		err  error
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	results := make(chan result, 1)
	go func() {
		term, err := s.compete(ctx)
		results <- result{term, err}
	}()
	waited := s.patience()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case r := <-results:
			return r.term, s.explain(r.err)
		case sig := <-s.signals:
			if s.noteStop(sig); s.stop != nil {
				cancel(signalled{s.stop})
			}
		case <-waited:
			cancel(errWaited)
		case <-look.C:
			s.warn()
			if silent, _ := s.contact.silent(); s.once && silent >= s.ttl {
				cancel(errAway)
			}
		}
	}
}

func (s *session) compete(ctx context.Context) (*elector.Term, error) {
	if s.waits && s.wait == 0 {
		return s.elector.TryCampaign(ctx)
	}
	return s.elector.Campaign(ctx)
}

// patience returns a channel that tells the end of --wait, if there is one.
func (s *session) patience() <-chan time.Time {
	if !s.waits || s.wait == 0 {
		return nil
	}
	return time.After(s.wait)
}

// explain turns the end of a campaign into an exit.
func (s *session) explain(err error) error {
	var sig signalled
	switch {
	case err == nil:
		return nil
	case errors.As(err, &sig):
		return &exitError{code: signalCode(sig.Signal)}
	case errors.Is(err, errWaited) && s.contact.unheard():
		return exit(exitUnavailable, "waited %v, and the store does not answer%s", s.wait, s.because())
	case errors.Is(err, errWaited):
		return exit(exitBusy, "waited %v, and somebody else leads %q", s.wait, s.election)
	case errors.Is(err, errAway):
		return exit(exitUnavailable, "the store has not answered for %v%s", s.ttl, s.because())
	case errors.Is(err, backend.ErrHeld):
		return exit(exitBusy, "somebody else leads %q: %w", s.election, err)
	case errors.Is(err, backend.ErrInvalid), errors.Is(err, backend.ErrMoved), errors.Is(err, backend.ErrVersion):
		return usage("%w", err)
	case errors.Is(err, backend.ErrClosed), errors.Is(err, elector.ErrClosed), errors.Is(err, elector.ErrBusy):
		return exit(exitInternal, "%w", err)
	}
	return exit(exitUnavailable, "the store is not available: %w", err)
}

// because is the store's last error, for the end of a message.
func (s *session) because() string {
	if _, err := s.contact.silent(); err != nil {
		return fmt.Sprintf(": %v", err)
	}
	return ""
}
