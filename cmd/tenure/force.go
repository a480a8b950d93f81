package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
)

const forceLong = `Take an election away from its leader, when that can't be asked to step down ('tenure stepdown') or ended.

The lease is released at once, and nobody can be elected for one TTL: in that time the old leader, if it still works,
finds out that its lease is gone and stops. The next leader has a greater token, which guards see. If the old leader can't
reach the store, it stops by its own deadline within that TTL; if it is frozen, only guards keep it from writing later.

The election's name has to be typed again, or --yes given. Who did it, when and why is written to standard output, and with
--audit to a file: as JSON, a line before and a line after, flushed to disk.

Exit codes:
  0    released
  1    nobody leads, so there is nothing to release; or the name was not typed
  64   wrong usage: no --reason, another flag, or the store's URL
  69   the store is not available; the election may have been released or not
  74   the output or the audit file can't be written
  75   the leader has changed or gone meanwhile; nothing was released`

const forceExample = `  tenure force-release settlement --reason "host1 hangs, its console doesn't answer"
  tenure force-release settlement --reason "case 4711" --yes --audit /var/log/tenure-audit.jsonl`

// force is what 'tenure force-release' was asked to do.
type force struct {
	target
	reason, audit string
	yes           bool
}

func (a *app) forceCommand() *cobra.Command {
	f := &force{}
	cmd := &cobra.Command{
		Use: "force-release ELECTION --reason TEXT", Short: "Take an election away from a leader that can't be asked", Long: forceLong, Example: forceExample,
		DisableFlagsInUseLine: true,
		Args:                  f.args,
		RunE: func(*cobra.Command, []string) error {
			if strings.TrimSpace(f.reason) == "" {
				return usage("--reason is missing: say why, for the audit")
			}
			return a.force(f)
		},
	}
	f.flags(cmd, 5*time.Second, "how long to wait for the store, each time")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why (required)")
	cmd.Flags().StringVar(&f.audit, "audit", "", "file to append the audit to")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "don't ask")
	return cmd
}

func (a *app) force(f *force) error {
	var r backend.Record
	err := a.ofStore(f.timeout, func(ctx context.Context, store backend.LeaseStore) (err error) {
		r, err = store.Get(ctx, f.election)
		return failed(err)
	})
	switch {
	case err != nil:
		return err
	case !r.Held():
		return exit(exitNobody, "nobody leads %s: there is nothing to release", shown(f.election))
	}
	if err := a.confirm(f, r); err != nil {
		return err
	}
	trail, err := openAudit(f.audit)
	if err != nil {
		return err
	}
	defer trail.close()
	entry := audited{Action: "force-release", Election: f.election, Holder: r.Holder.ID, Token: r.Token, Attempt: r.Attempt.String(), By: operator(), Reason: f.reason}
	if err := trail.add(entry.as("begun", nil)); err != nil { // what can't be audited isn't done
		return err
	}
	released := a.ofStore(f.timeout, func(ctx context.Context, store backend.LeaseStore) error {
		l := backend.Lease{Election: f.election, Holder: r.Holder.ID, Token: r.Token, Attempt: r.Attempt, TTL: r.TTL}
		return store.Release(ctx, l, backend.Handover{For: r.TTL})
	})
	entry = entry.as(outcomeOf(released), released)
	if released == nil && !a.json {
		defer fmt.Fprintf(a.stderr, "tenure: nobody can be elected for %v, in which %s finds out\n", r.TTL, shown(r.Holder.ID))
	}
	return errors.Join(a.releaseError(released), trail.add(entry), written(entry.print(a.stdout, a.json)))
}

// confirm makes sure that somebody wants this.
func (a *app) confirm(f *force, r backend.Record) error {
	if f.yes {
		return nil
	}
	if info, err := os.Stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return usage("nobody can be asked: standard input is not a terminal; give --yes to release without")
	}
	fmt.Fprintf(a.stderr, "%s leads %s under token %d.\nIf it is alive, its work ends within %v; nobody leads for that long.\nType the election's name to take it away: ",
		shown(r.Holder.ID), shown(f.election), r.Token, r.TTL)
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // what was typed before an end counts
	if strings.TrimRight(line, "\r\n") != f.election {
		return exit(exitNobody, "that is not the name: nothing was released")
	}
	return nil
}

func outcomeOf(err error) string {
	switch backend.ClassOf(err) {
	case backend.OK:
		return "released"
	case backend.NotHeld:
		return "not held"
	case backend.Unknown, backend.Denied:
		return "unknown"
	}
	return "refused"
}

// releaseError says how to exit.
func (a *app) releaseError(err error) error {
	switch backend.ClassOf(err) {
	case backend.OK:
		return nil
	case backend.NotHeld:
		return exit(exitBusy, "the leader has changed or gone meanwhile: nothing was released; see 'tenure status'")
	case backend.Unknown, backend.Denied:
		return exit(exitUnavailable, "the store did not confirm it: the election may have been released or not; see 'tenure status': %w", err)
	}
	return failed(err)
}
