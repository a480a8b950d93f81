package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
)

const listLong = `Tell the names of all elections in the store, below the prefix of its URL, and who leads each.

Exit codes:
  0    all are told, even if there are none
  64   wrong usage: a flag, the store's URL, or a store that can't tell its elections
  69   the store is not available
  74   the output can't be written`

const listExample = `  tenure list
  tenure list --json | jq -r 'select(.held | not) | .election'     which have no leader`

// listPage is how many names are asked for at a time.
const listPage = 500

func (a *app) listCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "list", Short: "Tell all elections and their leaders", Long: listLong, Example: listExample,
		DisableFlagsInUseLine: true,
		Args:                  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if timeout <= 0 {
				return usage("--timeout must be more than zero, such as 30s")
			}
			return a.ofStore(timeout, a.list)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait for the store in all")
	return cmd
}

func (a *app) list(ctx context.Context, store backend.LeaseStore) error {
	lister, ok := backend.As[backend.Lister](store)
	if !ok {
		return usage("the %s store can't tell its elections", store.Limits().Store)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	if !a.json {
		fmt.Fprintln(t, "ELECTION\tLEADER\tTOKEN\tREMAINING")
	}
	for after := ""; ; {
		names, err := lister.Elections(ctx, after, listPage)
		if err != nil {
			return failed(err)
		}
		for _, name := range names {
			r, err := store.Get(ctx, name)
			if err != nil {
				return failed(err)
			}
			if a.json {
				if err := encodeAll(a.stdout, []standing{statusOf(r)}); err != nil {
					return written(err)
				}
				continue
			}
			leader, remaining := "nobody", "-"
			if r.Held() {
				leader, remaining = shown(r.Holder.ID), span(r.Remaining)
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\n", shown(name), leader, r.Token, remaining)
		}
		if len(names) < listPage {
			return written(t.Flush())
		}
		after = names[len(names)-1]
	}
}
