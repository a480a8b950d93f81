package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/roster"
)

const (
	// askEvery is how often the outcome of a request is looked for.
	askEvery = 250 * time.Millisecond
	// perLook bounds one request to the store.
	perLook = 5 * time.Second
)

// wait looks for the outcome. Whatever it is, the request doesn't stay behind.
func (q *asking) wait(ctx context.Context, signals <-chan os.Signal) error {
	defer q.withdraw() //nolint:contextcheck // also when ctx has ended
	timeout := time.NewTimer(q.timeout)
	defer timeout.Stop()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case sig := <-signals:
			if q.accepted {
				q.log.WarnContext(ctx, "the leader has accepted already: it steps down")
			} else {
				q.log.InfoContext(ctx, "the request is withdrawn")
			}
			return &exitError{code: signalCode(sig)}
		case <-timeout.C:
			return q.late()
		case <-tick.C:
		}
		if done, err := q.outcome(ctx); done {
			return err
		}
	}
}

// late tells what is known when the time is over.
func (q *asking) late() error {
	leader := shown(q.before.Holder.ID)
	switch {
	case q.trouble != nil:
		return exit(exitUnavailable, "the store is not available: %w", q.trouble)
	case !q.free.IsZero():
		return exit(exitBusy, "%s has stepped down, and nobody leads after %v", leader, q.timeout)
	case q.accepted:
		return exit(exitBusy, "%s has accepted, but its work has not ended within %v; it steps down when that has", leader, q.timeout)
	}
	return exit(exitBusy, "%s has not answered within %v: it may be of an older release, or can't reach the store; the request is withdrawn", leader, q.timeout)
}

// outcome looks once.
func (q *asking) outcome(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, perLook)
	defer cancel()
	r, err := q.store.Get(ctx, q.election)
	if q.trouble = err; err != nil {
		q.log.DebugContext(ctx, "a request failed", slog.Any("error", err))
		return errors.Is(err, backend.ErrMoved) || errors.Is(err, backend.ErrInvalid), failed(err)
	}
	leader := r.Holder.ID
	switch {
	case r.Held() && r.Token == q.before.Token:
		return q.answer(ctx)
	case r.Held() && q.to != "" && leader != q.to:
		return true, exit(exitBusy, "%s leads now, not %s", shown(leader), shown(q.to))
	case r.Held() && leader == q.before.Holder.ID:
		return true, q.tell(r, "has stepped down and leads again")
	case r.Held():
		return true, q.tell(r, "leads")
	}
	if q.free.IsZero() {
		q.free = time.Now()
		q.log.InfoContext(ctx, "it has stepped down")
	}
	if time.Since(q.free) < q.before.TTL+time.Second {
		return false, nil
	}
	if q.to != "" {
		return true, exit(exitBusy, "%s has stepped down, but %s did not take over; nobody leads", shown(q.before.Holder.ID), shown(q.to))
	}
	return true, q.tell(r, "")
}

// answer looks whether the leader has said something.
func (q *asking) answer(ctx context.Context) (done bool, err error) {
	entries, err := q.roster.Candidates(ctx, q.election)
	if q.trouble = err; err != nil || q.accepted {
		return false, nil //nolint:nilerr // the next look may succeed
	}
	for _, e := range entries {
		if e.Candidate.ID != q.entry.Candidate.ID {
			continue
		}
		if said := roster.Decode(e.Note).Request; said != nil && said.Refused != "" {
			return true, exit(exitBusy, "%s refuses: %s", shown(q.before.Holder.ID), said.Refused)
		}
		return false, nil
	}
	q.accepted = true
	q.log.InfoContext(ctx, "it has accepted, and leads until its work has ended")
	return false, nil
}

// withdraw takes the request back, if the leader hasn't.
func (q *asking) withdraw() {
	ctx, cancel := context.WithTimeout(context.Background(), perLook)
	defer cancel()
	if err := q.roster.Delist(ctx, q.election, q.entry.Candidate.ID); err != nil {
		q.log.Warn("the request could not be withdrawn; it ends by itself", slog.Any("error", err), slog.Duration("after", q.timeout))
	}
}

// tell writes the outcome.
func (q *asking) tell(r backend.Record, what string) error {
	var err error
	switch {
	case q.json:
		err = encodeAll(q.stdout, []standing{statusOf(r)})
	case !r.Held():
		_, err = fmt.Fprintf(q.stdout, "nobody leads %s, last token %d\n", shown(q.election), r.Token)
	default:
		_, err = fmt.Fprintf(q.stdout, "%s %s %s under token %d\n", shown(r.Holder.ID), what, shown(q.election), r.Token)
	}
	return written(err)
}
