package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/roster"
)

const handoverLong = `Ask the leader of an election to hand over to another candidate, and wait until that one leads.

The leader looks for requests about once per TTL. It tells its work to end, as TERM does to 'tenure run', holds the
lease until the work has ended, and then keeps the election for the named candidate. The old leader stands by after
that, and doesn't take the election back for its cooldown, which is 12 TTLs by default.

Only a leader that is listed can be asked ('tenure candidates' shows them), and only for a candidate that is listed
as ready. Ctrl-C withdraws the request.

Exit codes:
  0    the named candidate leads
  1    nobody leads, so there is nothing to hand over
  64   wrong usage: a flag, the store's URL, or a store that lists no candidates
  69   the store is not available
  74   the output can't be written
  75   refused, or not done within --timeout, or another leads now; the reason is told
  128+n  withdrawn by signal n (130 for Ctrl-C)`

const handoverExample = `  tenure candidates settlement
  tenure handover settlement --to host2 --reason "host1 gets a new disk"`

const stepdownLong = `Ask the leader of an election to step down, and wait until another leads.

The leader looks for requests about once per TTL. It tells its work to end, as TERM does to 'tenure run', and holds the
lease until the work has ended. Then others go first: the old leader claims the election again after one TTL at the
earliest, or after --away, and doesn't take it from another for its cooldown, which is 12 TTLs by default.

Only a leader that is listed can be asked ('tenure candidates' shows them). Ctrl-C withdraws the request.

Exit codes:
  0    the leader has stepped down; who leads now is told, or that nobody does
  1    nobody leads, so nobody can step down
  64   wrong usage: a flag, the store's URL, or a store that lists no candidates
  69   the store is not available
  74   the output can't be written
  75   the leader can't be asked, or has not stepped down within --timeout
  128+n  withdrawn by signal n (130 for Ctrl-C)`

const stepdownExample = `  tenure stepdown settlement --reason "kernel update of host1"
  tenure stepdown settlement --away 30m          the old leader doesn't lead for half an hour, even if nobody does`

// request is what an operator wants of a leader.
type request struct {
	target
	to, reason string
	away       time.Duration
}

func (a *app) handoverCommand() *cobra.Command {
	r := &request{}
	cmd := a.askCommand(r, &cobra.Command{Use: "handover ELECTION --to CANDIDATE", Short: "Have the leader hand over to another", Long: handoverLong, Example: handoverExample})
	cmd.Flags().StringVar(&r.to, "to", "", "id of the candidate that is to lead (required)")
	check := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if r.to == "" {
			return usage("--to is missing: name the candidate that is to lead, one of 'tenure candidates'")
		}
		return check(cmd, args)
	}
	return cmd
}

func (a *app) stepdownCommand() *cobra.Command {
	r := &request{}
	cmd := a.askCommand(r, &cobra.Command{Use: "stepdown ELECTION", Short: "Have the leader step down", Long: stepdownLong, Example: stepdownExample})
	cmd.Flags().DurationVar(&r.away, "away", 0, "for how long the old leader doesn't claim the election again (default: one of its TTLs)")
	return cmd
}

func (a *app) askCommand(r *request, cmd *cobra.Command) *cobra.Command {
	cmd.DisableFlagsInUseLine = true
	cmd.Args = r.args
	cmd.RunE = func(*cobra.Command, []string) error {
		if r.away < 0 || r.away > longestRequest {
			return usage("--away must be within 0s and %v", longestRequest)
		}
		return a.ask(r)
	}
	r.flags(cmd, time.Minute, "how long to wait for the outcome")
	cmd.Flags().StringVar(&r.reason, "reason", "", "why, for the leader's log")
	return cmd
}

// asking is a request that is under way.
type asking struct {
	*app
	*request
	store  backend.LeaseStore
	roster backend.Roster
	log    *slog.Logger
	before backend.Record // the leader that is asked
	entry  backend.Entry

	accepted bool
	free     time.Time // since when nobody leads
	trouble  error     // of the last look
}

func (a *app) ask(r *request) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	return a.ofStore(r.timeout+time.Minute, func(ctx context.Context, store backend.LeaseStore) error {
		q := &asking{app: a, request: r, store: store, log: a.logger(slog.LevelInfo)}
		q.roster, _ = backend.As[backend.Roster](store)
		if done, err := q.look(ctx); done || err != nil {
			return err
		}
		if err := q.enlist(ctx); err != nil {
			return err
		}
		return q.wait(ctx, signals)
	})
}

// look finds out whether the leader can be asked.
func (q *asking) look(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, perLook)
	defer cancel()
	if q.before, err = q.store.Get(ctx, q.election); err != nil {
		return true, failed(err)
	}
	standings, err := standingsOf(ctx, q.store, q.election)
	if err != nil {
		return true, err
	}
	leader := q.before.Holder.ID
	var heir *elector.Standing
	listed := false
	for _, s := range standings {
		listed = listed || s.Candidate.ID == leader
		if s.Candidate.ID == q.to {
			heir = &s
		}
	}
	switch {
	case !q.before.Held():
		return true, exit(exitNobody, "nobody leads %s", shown(q.election))
	case q.to == leader:
		return true, q.tell(q.before, "leads already")
	case !listed:
		return true, exit(exitBusy, "the leader %s is not listed, so it can't be asked: end its process with TERM, or if that can't be, use 'tenure force-release'", shown(leader))
	case q.to != "" && heir == nil:
		return true, exit(exitBusy, "%s is not listed as a candidate of %s; see 'tenure candidates'", shown(q.to), shown(q.election))
	case q.to != "" && !heir.Ready:
		return true, exit(exitBusy, "%s is not ready to lead; see 'tenure candidates'", shown(q.to))
	case q.to == "" && len(standings) == 1:
		q.log.WarnContext(ctx, "nobody else stands by")
	}
	return false, nil
}

// enlist puts the request where the leader looks.
func (q *asking) enlist(ctx context.Context) error {
	note, err := roster.Note{Request: &roster.Request{
		Token: q.before.Token, To: q.to, Away: q.away.Milliseconds(), By: operator(), Reason: q.reason,
	}}.Encode()
	if err != nil {
		return usage("--reason is too long: %s", plainly(err))
	}
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return exit(exitInternal, "no random numbers: %w", err)
	}
	q.entry = backend.Entry{
		Election: q.election, Candidate: backend.Candidate{ID: "request-" + hex.EncodeToString(random[:])}, Note: note, TTL: q.timeout + time.Second,
	}
	ctx, cancel := context.WithTimeout(ctx, perLook)
	defer cancel()
	if err := q.roster.Enlist(ctx, q.entry); err != nil {
		return failed(err)
	}
	q.log.InfoContext(ctx, "asked the leader, which looks about once per TTL", slog.String("leader", q.before.Holder.ID), slog.Duration("ttl", q.before.TTL))
	return nil
}

// operator is who asks, for logs and audits.
func operator() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return name + "@" + host
}
