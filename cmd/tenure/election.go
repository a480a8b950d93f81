package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
)

// target is the election that a command is about, by its argument or by --election as in other commands.
type target struct {
	election string
	timeout  time.Duration
}

func (t *target) flags(cmd *cobra.Command, timeout time.Duration, what string) {
	cmd.Flags().StringVar(&t.election, "election", "", "name of the election, in place of the argument")
	cmd.Flags().DurationVar(&t.timeout, "timeout", timeout, what)
}

// args takes one name at most.
func (t *target) args(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return usage("%s takes one election, but got %d arguments; see '%[1]s --help'", cmd.CommandPath(), len(args))
	case len(args) == 1 && t.election != "":
		return usage("the election is given twice: as an argument and with --election")
	case len(args) == 1:
		if err := noURL(args[0]); err != nil {
			return err
		}
		t.election = args[0]
	case t.election == "":
		return usage("name the election, such as: %s settlement", cmd.CommandPath())
	}
	if t.timeout <= 0 || t.timeout > longestRequest {
		return usage("--timeout must be more than zero and at most %v, such as 5s", longestRequest)
	}
	return checkElection(t.election)
}

// longestRequest is for how long a leader can be asked.
const longestRequest = 12 * time.Hour

// noURL refuses what was meant for --store: it may have a password, which must not be shown as an election's name.
func noURL(arg string) error {
	if strings.Contains(arg, "://") {
		return usage("the argument looks like a URL: give the store with --store or %s (an election of such a name with --election)", storeVariable)
	}
	return nil
}

// failed says how to exit after a request to the store.
func failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, backend.ErrInvalid), errors.Is(err, backend.ErrVersion), errors.Is(err, backend.ErrMoved):
		return usage("%w", err)
	}
	return exit(exitUnavailable, "the store is not available: %w", err)
}

// ofStore opens the store for a while and calls f.
func (a *app) ofStore(timeout time.Duration, f func(context.Context, backend.LeaseStore) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	store, err := a.openToLook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	return f(ctx, store)
}
