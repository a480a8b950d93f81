package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/guardian"
)

const (
	// pushEvery is how often the guardian hears of deadlines, beside each renewal.
	pushEvery = 100 * time.Millisecond
	// stuckAfter is how long after KILL a command may still be there before it counts as one that can't be killed.
	stuckAfter = 5 * time.Second
	// guardianPause keeps a machine on which guardians die from taking the election again at once.
	guardianPause = time.Second
)

var errStuck = errors.New("processes of the command can't be killed: the lease is left to run out")

// ending is how the command under a term ended, and what follows.
type ending struct {
	final bool // exit with code
	code  int
	err   error // why: of the loss, or told to the user
	pause time.Duration
}

func (e ending) exit() error {
	if e.code == 0 && e.err == nil {
		return nil
	}
	return &exitError{code: e.code, err: e.err}
}

// service is a command that runs under a term.
type service struct {
	*session
	term   *elector.Term
	child  *guardian.Child
	killBy guardian.BootTime // when it is killed; zero while nobody has told it to end
	intBy  guardian.BootTime // until when it may end by itself after INT; zero without one
}

// serve runs the command under a term and returns when it and its descendants are gone.
func (s *session) serve(term *elector.Term) ending {
	if s.takeSignals(); s.stop != nil {
		return ending{final: true, code: signalCode(s.stop)}
	}
	child, err := guardian.Start(term.Context(), s.spec(term))
	if err != nil {
		return s.notStarted(term, err)
	}
	log := s.log.With(slog.String("election", s.election), slog.Int64("token", term.Token().Value))
	log.Info("started", slog.Int("pid", child.Pid()), slog.Int("guardian_pid", child.GuardianPid()))
	if child.StdinDetached() {
		log.Debug("standard input is a terminal, so the command reads from the null device")
	}
	e := (&service{session: s, term: term, child: child}).accompany()
	switch {
	case e.final:
		log.Info("stopped", slog.Int("code", e.code))
	case handedOver(e.err):
		log.Info("stepped down", slog.Any("cause", e.err))
	default:
		log.Warn("lost the lease; the command was ended", slog.Any("cause", e.err))
	}
	return e
}

// takeSignals notes what has arrived while nobody listened.
func (s *session) takeSignals() {
	for {
		select {
		case sig := <-s.signals:
			s.noteStop(sig)
		default:
			return
		}
	}
}

func (s *session) spec(term *elector.Term) guardian.Spec {
	soft, hard := deadlines(term)
	token := term.Token()
	return guardian.Spec{
		Args: s.command, Soft: soft, Hard: hard,
		Env: append(os.Environ(),
			"TENURE_ELECTION="+s.election,
			fmt.Sprintf("TENURE_TOKEN=%d", token.Value),
			"TENURE_ATTEMPT="+token.Attempt.String(),
			"TENURE_HOLDER="+s.elector.Config().Candidate.ID,
			"TENURE_TTL="+seconds(s.ttl),
		),
	}
}

// deadlines is when the command is asked to end and when it is killed, if no renewal follows. The boot clock is read before the term's: a pause in
// between makes them earlier, never later.
func deadlines(term *elector.Term) (soft, hard guardian.BootTime) {
	now := guardian.Now()
	soft = now.Add(term.CancelIn())
	hard = now.Add(term.Remaining())
	return min(soft, hard), hard
}

func (s *session) notStarted(term *elector.Term, err error) ending {
	var exec *guardian.ExecError
	switch {
	case errors.As(err, &exec):
		return ending{final: true, code: exec.Code, err: fmt.Errorf("can't run %q: %s", exec.Name, exec.Msg)}
	case errors.Is(err, guardian.ErrDeadlinePassed), term.Context().Err() != nil:
		s.log.Warn("lost the lease before the command was started", slog.Any("cause", err))
		return ending{err: err}
	case errors.Is(err, guardian.ErrGuardianLost):
		s.log.Warn("the guardian ended before the command was started", slog.Any("cause", err))
		return ending{err: err, pause: guardianPause}
	}
	return ending{final: true, code: exitSystem, err: fmt.Errorf("can't start the guardian: %w", err)}
}

// accompany moves the deadlines and passes signals on until the command is gone.
func (v *service) accompany() ending {
	push := time.NewTicker(pushEvery)
	defer push.Stop()
	over := v.term.Context().Done()
	for {
		select {
		case <-v.child.Done():
			return v.ended(v.child.Wait())
		case <-v.renewed:
			v.child.Extend(deadlines(v.term))
		case <-push.C:
			v.warn()
			v.endOfInterrupt()
			v.child.Extend(deadlines(v.term))
			if v.killBy != 0 && guardian.Now() > v.killBy.Add(stuckAfter) {
				return ending{err: errStuck}
			}
		case sig := <-v.signals:
			v.signal(sig)
		case <-over:
			over = nil
			if cause := context.Cause(v.term.Context()); handedOver(cause) { // the lease is renewed until the command is gone
				v.log.Info("stepping down", slog.Any("cause", cause))
				v.endWithin(v.grace)
				continue
			}
			v.endWithin(v.term.Remaining()) // nothing remains when the store said that the lease is gone: it may be another's already
		}
	}
}

// signal passes a signal on, or steps down.
func (v *service) signal(sig os.Signal) {
	switch {
	case ends(sig) && v.stop == nil:
		v.stop = sig
		v.log.Info("stepping down", slog.String("signal", sig.String()))
		if sig == os.Interrupt {
			v.interrupt()
			return
		}
		v.endWithin(v.grace)
	case ends(sig):
		v.endWithin(0)
	case sig == syscall.SIGPIPE: // ours: a pipe of our own was closed
	default:
		if err := v.child.Signal(sig); err != nil {
			v.log.Debug("a signal was not passed on", slog.Any("error", err))
		}
	}
}

// interrupt passes INT on, as Ctrl-C would reach a command without tenure. One that doesn't end of it is killed after the grace: a TERM in between would be taken
// by many for "now".
func (v *service) interrupt() {
	if err := v.child.Signal(os.Interrupt); err != nil {
		v.log.Debug("a signal was not passed on", slog.Any("error", err))
	}
	v.intBy = guardian.Now().Add(v.grace)
}

func (v *service) endOfInterrupt() {
	if v.intBy != 0 && guardian.Now() > v.intBy {
		v.endWithin(0)
		v.intBy = 0
	}
}

// handedOver reports that a term ended on purpose, for another candidate or at an operator's request.
func handedOver(cause error) bool { return errors.Is(cause, elector.ErrResigned) }

// endWithin sends TERM, and KILL after grace or at the term's deadline.
func (v *service) endWithin(grace time.Duration) {
	v.child.Stop(grace)
	by := guardian.Now().Add(grace)
	if v.killBy == 0 || by < v.killBy {
		v.killBy = by
	}
}

// ended decides what follows the command's end.
func (v *service) ended(e guardian.Exit) ending {
	if e.Reason == guardian.Exited || v.stop != nil {
		return ending{final: true, code: e.Code}
	}
	cause := context.Cause(v.term.Context())
	switch {
	case e.Reason == guardian.GuardianLost:
		return ending{err: e.Err, pause: guardianPause}
	case cause == nil:
		cause = fmt.Errorf("the command was ended: %s", e.Reason)
	}
	return ending{err: cause}
}
