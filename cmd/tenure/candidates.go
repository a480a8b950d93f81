package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/roster"
)

const candidatesLong = `Tell who takes part in an election: who leads, who stands by, their priorities and what they publish.

'tenure run' lists its candidate; programs do with elector.Config.Listed or a Preference. A candidate that has died is
listed for about four more of its TTLs.

State is one of
  leads       it leads
  ready       it can lead
  not ready   it takes part, but says that it can't lead at present
  resting     it can lead, but was asked to step down, so it doesn't take over for a while

Exit codes:
  0    somebody is listed
  1    nobody is listed
  64   wrong usage: a flag, the store's URL, or a store that lists no candidates
  69   the store is not available
  74   the output can't be written`

const candidatesExample = `  tenure candidates settlement
  tenure candidates settlement --json | jq -r 'select(.state == "ready") | .candidate'`

func (a *app) candidatesCommand() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use: "candidates ELECTION", Short: "Tell who stands by", Long: candidatesLong, Example: candidatesExample,
		DisableFlagsInUseLine: true,
		Args:                  t.args,
		RunE: func(*cobra.Command, []string) error {
			return a.ofStore(t.timeout, func(ctx context.Context, s backend.LeaseStore) error { return a.candidates(ctx, s, t.election) })
		},
	}
	t.flags(cmd, 5*time.Second, "how long to wait for the store")
	return cmd
}

// listed is a candidate as JSON.
type listed struct {
	Election    string              `json:"election"`
	Candidate   string              `json:"candidate"`
	State       string              `json:"state"`
	Priority    int                 `json:"priority"`
	Since       *time.Time          `json:"since,omitempty"`
	Attributes  map[string]string   `json:"attributes,omitempty"`
	Description backend.Description `json:"description"`
}

func (a *app) candidates(ctx context.Context, store backend.LeaseStore, election string) error {
	r, err := store.Get(ctx, election)
	if err != nil {
		return failed(err)
	}
	standings, err := standingsOf(ctx, store, election)
	if err != nil {
		return err
	}
	list := make([]listed, 0, len(standings))
	leaderListed := false
	for _, s := range standings {
		leaderListed = leaderListed || s.Candidate.ID == r.Holder.ID
		l := listed{
			Election: election, Candidate: s.Candidate.ID, State: stateOf(s, r.Holder.ID), Priority: s.Priority,
			Attributes: s.Attributes, Description: s.Candidate.Description,
		}
		if s.Since.Unix() > 0 {
			l.Since = &s.Since
		}
		list = append(list, l)
	}
	if r.Held() && !leaderListed {
		a.logger(slog.LevelInfo).WarnContext(ctx, "the leader is not listed", slog.String("leader", r.Holder.ID))
	}
	if a.json {
		err = encodeAll(a.stdout, list)
	} else if len(list) > 0 {
		err = printCandidates(a.stdout, list)
	}
	if err == nil && len(list) == 0 {
		return exit(exitNobody, "nobody is listed")
	}
	return written(err)
}

// standingsOf reads who is listed.
func standingsOf(ctx context.Context, store backend.LeaseStore, election string) ([]elector.Standing, error) {
	if !roster.Kept(store) {
		return nil, usage("the %s store keeps no list of candidates", store.Limits().Store)
	}
	e, err := newElector(elector.Config{Store: store, Election: election, TTL: max(5*time.Second, store.Limits().MinTTL)})
	if err != nil {
		return nil, err
	}
	standings, err := e.Candidates(ctx)
	return standings, failed(err)
}

func stateOf(s elector.Standing, leader string) string {
	switch {
	case s.Candidate.ID == leader:
		return "leads"
	case !s.Ready:
		return "not ready"
	case s.Resting:
		return "resting"
	}
	return "ready"
}

func encodeAll[T any](w io.Writer, list []T) error {
	encoder := json.NewEncoder(w)
	for _, one := range list {
		if err := encoder.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

func printCandidates(w io.Writer, list []listed) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CANDIDATE\tSTATE\tPRIORITY\tWHAT\tADDRESS\tPUBLISHES")
	for _, l := range list {
		cells := []string{shown(l.Candidate), l.State, strconv.Itoa(l.Priority), words(l.Description.String()), dash(l.Description.Address), attributes(l.Attributes)}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return t.Flush()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return shown(s)
}

func attributes(m map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, shown(name)+"="+shown(m[name]))
	}
	return strings.Join(pairs, " ")
}
