package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
)

const statusLong = `Tell who leads an election, under which token, and for how long its lease still runs.

Exit codes:
  0    somebody leads
  1    nobody leads
  64   wrong usage: a flag or the store's URL
  69   the store is not available
  74   the output can't be written`

const statusExample = `  tenure status --election settlement
  tenure status --election settlement --json | jq -r .holder`

func (a *app) statusCommand() *cobra.Command {
	var election string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "status --election NAME", Short: "Tell who leads", Long: statusLong, Example: statusExample,
		DisableFlagsInUseLine: true,
		Args:                  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkElection(election); err != nil {
				return err
			}
			if timeout <= 0 {
				return usage("--timeout must be more than zero, such as 5s")
			}
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			return a.status(ctx, election)
		},
	}
	cmd.Flags().StringVar(&election, "election", "", "name of the election (required)")
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait for the store")
	return cmd
}

func (a *app) status(ctx context.Context, election string) error {
	store, err := a.openToLook(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	r, err := store.Get(ctx, election)
	switch {
	case errors.Is(err, backend.ErrInvalid), errors.Is(err, backend.ErrVersion):
		return usage("%w", err)
	case err != nil:
		return exit(exitUnavailable, "the store is not available: %w", err)
	}
	if a.json {
		err = json.NewEncoder(a.stdout).Encode(statusOf(r))
	} else {
		err = printStatus(a.stdout, r)
	}
	if err == nil && !r.Held() {
		return &exitError{code: exitNobody}
	}
	return written(err)
}

// standing is an election as JSON, in status and watch.
type standing struct {
	Time      *time.Time           `json:"time,omitempty"`
	Election  string               `json:"election"`
	Held      bool                 `json:"held"`
	Holder    string               `json:"holder"`
	Token     int64                `json:"token"` // the holder's, or the last one
	Attempt   string               `json:"attempt,omitempty"`
	Candidate *backend.Description `json:"candidate,omitempty"`
	TTL       *int64               `json:"ttl_ms,omitempty"`
	Remaining *int64               `json:"remaining_ms,omitempty"`
	Age       *int64               `json:"age_ms,omitempty"`
	Reserved  string               `json:"reserved_for,omitempty"`
	MovedTo   string               `json:"moved_to,omitempty"`
}

func statusOf(r backend.Record) standing {
	s := standing{Election: r.Election, Held: r.Held(), Holder: r.Holder.ID, Token: r.Token, Reserved: r.Reserved.To, MovedTo: r.MovedTo}
	if r.Held() {
		s.Candidate, s.Attempt = &r.Holder.Description, r.Attempt.String()
		s.TTL, s.Remaining, s.Age = milliseconds(r.TTL), milliseconds(r.Remaining), milliseconds(r.Age)
	}
	return s
}

func milliseconds(d time.Duration) *int64 {
	ms := d.Milliseconds()
	return &ms
}

func printStatus(w io.Writer, r backend.Record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	row("election", "%s", shown(r.Election))
	switch {
	case r.Held():
		row("leader", "%s", shown(r.Holder.ID))
		if about := r.Holder.String(); about != "" {
			row("candidate", "%s", words(about))
		}
		if r.Holder.Address != "" {
			row("address", "%s", shown(r.Holder.Address))
		}
		row("token", "%d", r.Token)
		row("remaining", "%s of %s", span(r.Remaining), span(r.TTL))
		row("leads for", "%s", span(r.Age))
	default:
		row("leader", "nobody")
		row("last token", "%d", r.Token)
	}
	switch {
	case r.Reserved.For > 0 && r.Reserved.To == "":
		row("reserved", "for nobody, another %s", span(r.Reserved.For))
	case r.Reserved.For > 0:
		row("reserved", "for %s, another %s", shown(r.Reserved.To), span(r.Reserved.For))
	}
	if r.MovedTo != "" {
		row("moved to", "%s", shown(r.MovedTo))
	}
	return t.Flush()
}
