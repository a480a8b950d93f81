package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

const adviseLong = `Compute TTL, heartbeat and margins from what the work needs, and tell what each of them costs.

A longer TTL survives longer outages and pauses and makes fail-over slower; a shorter heartbeat survives more
under the same TTL and costs requests. Without flags the advice is what every elector does by default.

Nothing is asked of the store. If TENURE_STORE or --store names one, its limits are used; else the advice
is for any store whose leases end by its wall clock, as Redis' and Postgres' do.

A batch job (--p99) gets a TTL of 3 times that, 30s at least: a rule for jobs that nobody may start a second
time while the first is stuck. A lease is renewed while its job runs, so a shorter one is safe too.

Exit codes:
  0    here is the advice
  64   wrong usage, or needs that can't be met together
  69   the store can't be opened
  74   the output can't be written`

const adviseExample = `  tenure advise --p99 2m --rtt 5ms --zones multi
  tenure advise --failover 10s --outage 5s
  TENURE_STORE=etcd://h1,h2,h3 tenure advise --json | jq .ttl_ms`

func (a *app) adviseCommand() *cobra.Command {
	var n elector.Needs
	var zones string
	cmd := &cobra.Command{
		Use: "advise [flags]", Short: "Compute TTL, heartbeat and margins from needs", Long: adviseLong, Example: adviseExample,
		DisableFlagsInUseLine: true,
		Args:                  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			n.Zones = elector.Zones(zones)
			for _, d := range adviseFlags(&n) {
				if cmd.Flags().Changed(d.flag) && (*d.value <= 0 || *d.value > d.most) {
					return usage("--%s must be more than zero and at most %s, such as %s", d.flag, d.most, d.example)
				}
			}
			if n.Zones != elector.SingleZone && n.Zones != elector.MultiZone {
				return usage("--zones must be %s or %s", elector.SingleZone, elector.MultiZone)
			}
			return a.advise(n)
		},
	}
	for _, d := range adviseFlags(&n) {
		cmd.Flags().DurationVar(d.value, d.flag, 0, d.help)
	}
	cmd.Flags().StringVar(&zones, "zones", string(elector.SingleZone), "single, or multi for machines in several regions: decides on the skew budget")
	return cmd
}

// adviseFlag is a need, and how it is stated.
type adviseFlag struct {
	flag, field, example, help string
	value                      *time.Duration
	most                       time.Duration
}

func adviseFlags(n *elector.Needs) []adviseFlag {
	const year = 365 * 24 * time.Hour
	return []adviseFlag{
		{"p99", "RunTime", "2m", "99th percentile of a batch job's run time (default: no batch job)", &n.RunTime, year},
		{"rtt", "RoundTrip", "5ms", "99th percentile of a request to the store (default 5ms, with --zones multi 100ms)", &n.RoundTrip, 10 * time.Second},
		{"outage", "Outage", "10s", "an outage of the store that must cost no leadership (default: what the rest leaves)", &n.Outage, year},
		{"failover", "FailOver", "10s", "the most that may pass from a crash to the next leader (default: what the rest needs)", &n.FailOver, year},
	}
}

func (a *app) advise(n elector.Needs) error {
	var err error
	if n.Limits, err = a.limits(); err != nil {
		return err
	}
	advice, err := elector.Advise(n)
	var conflict *elector.ConflictError
	switch {
	case errors.As(err, &conflict):
		flags, together := inFlags(conflict.Fields, &n), ""
		if len(flags) > 1 {
			together = " together"
		}
		return usage("%s can't be met%s: %s", strings.Join(flags, " and "), together, conflict.Why)
	case err != nil:
		return usage("%s", plainly(err))
	case a.json:
		return written(json.NewEncoder(a.stdout).Encode(adviceOf(advice, n.Limits)))
	}
	return written(a.printAdvice(advice, n.Limits))
}

// inFlags names needs as the command line does.
func inFlags(fields []string, n *elector.Needs) []string {
	names := map[string]string{"Zones": "--zones " + string(n.Zones), "Limits": "the store's limits"}
	for _, d := range adviseFlags(n) {
		names[d.field] = "--" + d.flag
		if *d.value > 0 {
			names[d.field] += " " + d.value.String()
		}
	}
	var flags []string
	for _, f := range fields {
		flags = append(flags, names[f])
	}
	return flags
}

// limits are those of the store that the user chose, if any. Its server is not asked, and no file is made: the limits of an SQLite store don't depend on the file.
func (a *app) limits() (backend.Limits, error) {
	if a.choseNone() {
		return backend.Limits{}, nil
	}
	raw, _, err := a.storeURL()
	if err != nil {
		return backend.Limits{}, err
	}
	chosen := *a
	if u, err := url.Parse(raw); err == nil && u.Scheme == "sqlite" {
		dir, err := os.MkdirTemp("", "tenure-")
		if err != nil {
			return backend.Limits{}, exit(exitSystem, "there is no room for a temporary file: %w", err)
		}
		defer os.RemoveAll(dir)
		u.Path, u.RawPath = filepath.ToSlash(filepath.Join(dir, "advice.db")), ""
		chosen.store, chosen.storeGiven = u.String(), func() bool { return true }
	}
	s, err := chosen.open(context.Background())
	if err != nil {
		return backend.Limits{}, err
	}
	defer s.Close()
	return s.Limits(), nil
}

func (a *app) printAdvice(v elector.Advice, limits backend.Limits) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	row := func(name string, d time.Duration, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, span(d), fmt.Sprintf(format, args...))
	}
	t := v.Timing
	row("TTL", v.TTL, "after a crash the next leader leads within %s; an idle follower makes up to %s a minute", span(t.FailOver), perMinute(t.FollowerRequests))
	row("RenewInterval", v.RenewInterval, "a leader makes %s a minute", perMinute(t.LeaderRequests))
	row("AttemptTimeout", v.AttemptTimeout, "an outage of the store of up to %s costs no leadership", span(t.OutageSurvived))
	row("SafetyMargin", v.SafetyMargin, "%s", skewText(t, limits))
	row("StepDownMargin", v.StepDownMargin, "work is cancelled %s after the last renewal, and has %s to stop before another could lead", span(t.CancelAfter), span(t.StopWithin))
	return w.Flush()
}

func skewText(t elector.Timing, limits backend.Limits) string {
	if limits.MaxTTL != 0 && !limits.WallClock {
		return "leases don't end by a wall clock here: no step of one does harm; pauses of the holder's threads and differences of clock rates are what this is for"
	}
	return fmt.Sprintf("the store's wall clock may step forward by up to %s within a TTL", span(t.SkewTolerated))
}

func perMinute(perSecond float64) string { return fmt.Sprintf("%.3g requests", perSecond*60) }

// adviceJSON is the advice for programs.
type adviceJSON struct {
	Store            string  `json:"store,omitempty"`
	TTL              int64   `json:"ttl_ms"`
	RenewInterval    int64   `json:"renew_interval_ms"`
	AttemptTimeout   int64   `json:"attempt_timeout_ms"`
	SafetyMargin     int64   `json:"safety_margin_ms"`
	StepDownMargin   int64   `json:"step_down_margin_ms"`
	CancelAfter      int64   `json:"cancel_after_ms"`
	BelieveFor       int64   `json:"believe_for_ms"`
	StopWithin       int64   `json:"stop_within_ms"`
	OutageSurvived   int64   `json:"outage_survived_ms"`
	FailOver         int64   `json:"fail_over_ms"`
	SkewTolerated    *int64  `json:"skew_tolerated_ms,omitempty"` // absent where no step does harm
	LeaderRequests   float64 `json:"leader_requests_per_second"`
	FollowerRequests float64 `json:"follower_requests_per_second"`
}

func adviceOf(v elector.Advice, limits backend.Limits) adviceJSON {
	t := v.Timing
	out := adviceJSON{
		Store: limits.Store, TTL: v.TTL.Milliseconds(), RenewInterval: v.RenewInterval.Milliseconds(), AttemptTimeout: v.AttemptTimeout.Milliseconds(),
		SafetyMargin: v.SafetyMargin.Milliseconds(), StepDownMargin: v.StepDownMargin.Milliseconds(),
		CancelAfter: t.CancelAfter.Milliseconds(), BelieveFor: t.BelieveFor.Milliseconds(), StopWithin: t.StopWithin.Milliseconds(),
		OutageSurvived: t.OutageSurvived.Milliseconds(), FailOver: t.FailOver.Milliseconds(),
		LeaderRequests: t.LeaderRequests, FollowerRequests: t.FollowerRequests,
	}
	if limits.MaxTTL == 0 || limits.WallClock {
		out.SkewTolerated = milliseconds(t.SkewTolerated)
	}
	return out
}
