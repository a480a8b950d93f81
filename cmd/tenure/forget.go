package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
)

const forgetLong = `Remove the records of elections that nobody uses any more.

Only a free election is forgotten: none that is led, reserved, or moved to another store. Its tokens go on growing if it is
used again: the store keeps a floor for all elections below its prefix. With --unchanged-for the record is read, and
forgotten only if it is the same after that time: no term began in between.

Exit codes:
  0    all are forgotten, or had no record
  64   wrong usage: a flag, the store's URL, or a store that can't forget
  69   the store is not available
  74   the output can't be written
  75   at least one is in use and was kept
  128+n  ended by signal n (130 for Ctrl-C)`

const forgetExample = `  tenure forget report-2024 report-2025
  tenure forget report-2025 --unchanged-for 10m`

// forgetting is what 'tenure forget' was asked to do.
type forgetting struct {
	unchanged, timeout time.Duration
}

func (a *app) forgetCommand() *cobra.Command {
	f := &forgetting{}
	cmd := &cobra.Command{
		Use: "forget ELECTION...", Short: "Remove records of elections that nobody uses", Long: forgetLong, Example: forgetExample,
		DisableFlagsInUseLine: true,
		Args:                  f.args,
		RunE:                  func(_ *cobra.Command, args []string) error { return a.forget(f, args) },
	}
	cmd.Flags().DurationVar(&f.unchanged, "unchanged-for", 0, "for how long the elections must stay as they are before that, such as 10m")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait for the store, each time")
	return cmd
}

func (f *forgetting) args(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usage("name the elections, such as: tenure forget report-2025")
	case f.unchanged < 0:
		return usage("--unchanged-for must not be negative")
	case f.timeout <= 0:
		return usage("--timeout must be more than zero, such as 5s")
	}
	for _, name := range args {
		if err := noURL(name); err != nil {
			return err
		}
		if err := checkElection(name); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) forget(f *forgetting, names []string) error {
	records, err := a.read(f, names)
	if err != nil {
		return err
	}
	if f.unchanged > 0 && slices.ContainsFunc(records, func(r backend.Record) bool { return !r.Held() }) {
		if err := a.pass(f.unchanged); err != nil {
			return err
		}
	}
	kept := 0
	err = a.ofStore(f.timeout, func(ctx context.Context, store backend.LeaseStore) error {
		for _, r := range records {
			said, err := forgetOne(ctx, store, r)
			if err != nil {
				return err
			}
			if said != "forgotten" && said != "no record" {
				kept++
			}
			if err := a.tellForgotten(r, said); err != nil {
				return written(err)
			}
		}
		return nil
	})
	if err == nil && kept > 0 {
		return exit(exitBusy, "%d of %d are in use and were kept", kept, len(records))
	}
	return err
}

// read reads the records as they are before the wait.
func (a *app) read(f *forgetting, names []string) (records []backend.Record, err error) {
	err = a.ofStore(f.timeout, func(ctx context.Context, store backend.LeaseStore) error {
		for _, name := range names {
			r, err := store.Get(ctx, name)
			if err != nil {
				return failed(err)
			}
			records = append(records, r)
		}
		return nil
	})
	return records, err
}

// pass waits, and says from time to time for how long still.
func (a *app) pass(d time.Duration) error {
	log := a.logger(slog.LevelInfo)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	end := time.Now().Add(d)
	over := time.NewTimer(d)
	defer over.Stop()
	tick := time.NewTicker(max(time.Second, d/10))
	defer tick.Stop()
	log.Info("waiting whether a term begins", slog.Duration("for", d))
	for {
		select {
		case sig := <-signals:
			return &exitError{code: signalCode(sig)}
		case <-over.C:
			return nil
		case <-tick.C:
			log.Info("waiting", slog.Duration("left", time.Until(end).Round(time.Second)))
		}
	}
}

// forgetOne removes one record and says what became of it.
func forgetOne(ctx context.Context, store backend.LeaseStore, r backend.Record) (said string, err error) {
	f, ok := backend.As[backend.Forgetter](store)
	switch {
	case !ok:
		return "", usage("the %s store can't forget", store.Limits().Store)
	case r.Held():
		return "kept: " + shown(r.Holder.ID) + " leads", nil
	case r.Version == 0 && r.Counter == 0:
		return "no record", nil
	}
	err = f.Forget(ctx, r)
	var held *backend.HeldError
	switch {
	case err == nil:
		return "forgotten", nil
	case errors.As(err, &held):
		return "kept: " + words(held.Record.String()), nil
	case errors.Is(err, backend.ErrOutdated):
		return "kept: it has had a term meanwhile", nil
	case errors.Is(err, backend.ErrMoved):
		return "kept: it was moved to another store", nil
	}
	return "", failed(err)
}

// forgotten is an outcome as JSON.
type forgotten struct {
	Election string `json:"election"`
	Outcome  string `json:"outcome"`
	Token    int64  `json:"last_token"`
}

func (a *app) tellForgotten(r backend.Record, said string) error {
	if a.json {
		return encodeAll(a.stdout, []forgotten{{r.Election, said, r.Counter}})
	}
	_, err := fmt.Fprintf(a.stdout, "%s  %s\n", shown(r.Election), said)
	return err
}
