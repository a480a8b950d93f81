package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/elector"
)

const watchLong = `Follow who leads an election: a line for the present leader, and one for each change, until Ctrl-C.

While the store is away, watch warns and waits for it. Of several changes in a moment only the last may be shown.

Exit codes:
  0    ended by Ctrl-C (INT) or TERM
  64   wrong usage: a flag or the store's URL
  69   the store can't be opened
  74   the output can't be written`

const watchExample = `  tenure watch --election settlement
  tenure watch --election settlement --json | jq --unbuffered -r .holder`

func (a *app) watchCommand() *cobra.Command {
	var election string
	cmd := &cobra.Command{
		Use: "watch --election NAME", Short: "Follow who leads", Long: watchLong, Example: watchExample,
		DisableFlagsInUseLine: true,
		Args:                  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkElection(election); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return a.watch(ctx, election)
		},
	}
	cmd.Flags().StringVar(&election, "election", "", "name of the election (required)")
	return cmd
}

func (a *app) watch(ctx context.Context, election string) error {
	store, err := a.open(ctx)
	if err != nil {
		return err
	}
	log := a.logger(slog.LevelInfo)
	known := &contact{LeaseStore: store, log: log}
	defer known.Close()
	e, err := newElector(elector.Config{
		Store: known, Election: election, Logger: a.logger(slog.LevelError),
		TTL: max(5*time.Second, store.Limits().MinTTL), // only the pace of looks beside the wake-ups
	})
	if err != nil {
		return err
	}
	for l, err := range e.Observe(ctx) {
		if err != nil {
			log.DebugContext(ctx, "a request failed", slog.Any("error", err)) // the contact has warned, once
			continue
		}
		if err := a.printLeader(election, l); err != nil {
			return written(err)
		}
	}
	return nil
}

func (a *app) printLeader(election string, l elector.Leader) error {
	now := time.Now()
	if a.json {
		s := standing{Time: &now, Election: election, Held: !l.Nobody(), Holder: l.Candidate.ID, Token: l.Token}
		if s.Held {
			s.Candidate, s.Remaining, s.Age = &l.Candidate.Description, milliseconds(l.Remaining), milliseconds(l.Age)
		}
		return json.NewEncoder(a.stdout).Encode(s)
	}
	who := "nobody leads"
	if !l.Nobody() {
		who = fmt.Sprintf("%s leads (%s)", shown(l.Candidate.ID), words(l.Candidate.String()))
	}
	_, err := fmt.Fprintf(a.stdout, "%s  token %d  %s\n", now.Format(time.RFC3339), l.Token, who)
	return err
}
