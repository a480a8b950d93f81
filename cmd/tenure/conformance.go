package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
)

const conformanceLong = `Play the conformance suite against a server of yours: the cases with which the stores of this
project are tested, on your version, your settings and your network. Progress goes to standard
error, the report to standard output.

The suite makes elections whose names begin with "conformance-" and disturbs no other. Stores keep a
small record of every name that was ever used: choose a prefix or a database for the test. It
takes one to three minutes, most of which it waits for leases to end.

A passing run shows that no counterexample was found. It is not a proof.

Without a URL it tests the store in TENURE_STORE or --store. Passwords in arguments show in the process list.

Exit codes:
  0    every rule holds, as far as the store claims it
  1    a rule was violated
  2    the suite could not run: wrong usage, or the store is not available
  3    with --strict: a case was untested or undecided`

const conformanceExample = `  TENURE_STORE=redis://:password@redis.internal:6379/0?prefix=test tenure conformance
  tenure conformance etcd://127.0.0.1:2379 consul://127.0.0.1:8500
  tenure conformance --format junit sqlite:///tmp/test.db > report.xml`

func (a *app) conformanceCommand() *cobra.Command {
	var format string
	var strict bool
	cmd := &cobra.Command{
		Use: "conformance [URL...]", Short: "Test a store of yours with the conformance suite", Long: conformanceLong, Example: conformanceExample,
		DisableFlagsInUseLine: true,
		Args:                  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, urls []string) error {
			if a.json {
				format = "json"
			}
			if !slices.Contains(conformance.Formats, format) {
				return exit(conformance.ExitFailed, "--format: there are %s", strings.Join(conformance.Formats, ", "))
			}
			if format == "junit" && len(urls) > 1 {
				return exit(conformance.ExitFailed, "--format junit makes one document: give one URL")
			}
			ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer cancel()
			return a.conformance(ctx, urls, format, strict)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit(conformance.ExitFailed, "%w", flagError(cmd, err))
	})
	cmd.Flags().StringVar(&format, "format", "text", "of the report: "+strings.Join(conformance.Formats, ", "))
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 3 when a case is untested or undecided")
	return cmd
}

func (a *app) conformance(ctx context.Context, urls []string, format string, strict bool) error {
	if len(urls) == 0 {
		raw, _, err := a.storeURL()
		if err != nil {
			return exit(conformance.ExitFailed, "%w", err)
		}
		urls = []string{raw}
	}
	var reports []*conformance.Report
	code := conformance.ExitHolds
	for _, raw := range urls {
		r, err := a.check(ctx, raw)
		if err != nil {
			return exit(conformance.ExitFailed, "%w", err)
		}
		if err := written(r.Write(a.stdout, format)); err != nil {
			return err
		}
		reports = append(reports, r)
		code = worse(code, r.ExitCode(strict))
	}
	if len(reports) > 1 && format == "text" {
		if _, err := fmt.Fprintf(a.stdout, "\n%s", conformance.Matrix(reports)); err != nil {
			return written(err)
		}
	}
	switch {
	case ctx.Err() != nil:
		return exit(conformance.ExitFailed, "interrupted: the report tells what was known by then")
	case code != 0:
		return &exitError{code: code}
	}
	return nil
}

// worse is the exit code that matters more: a violation, then what could not run, then what is untested.
func worse(a, b int) int {
	for _, code := range []int{conformance.ExitViolated, conformance.ExitFailed, conformance.ExitUntested} {
		if a == code || b == code {
			return code
		}
	}
	return conformance.ExitHolds
}

// check plays the suite on one store, after a first look whether it is there.
func (a *app) check(ctx context.Context, raw string) (*conformance.Report, error) {
	if err := checkScheme(raw); err != nil {
		return nil, err
	}
	suite, err := conformance.URL(raw) //nolint:contextcheck // each case opens its clients with a context of its own
	if err != nil {
		return nil, errors.New(plainly(err))
	}
	if err := answers(ctx, raw); err != nil {
		return nil, err
	}
	u, err := backend.ParseURL(raw)
	if err != nil {
		return nil, errors.New(plainly(err))
	}
	fmt.Fprintf(a.stderr, "tenure: testing %s\n", u)
	suite.Progress = conformance.Progress(a.stderr)
	r := conformance.Check(ctx, suite)
	r.Target = u.String()
	return r, nil
}

// answers reads an election that nobody uses.
func answers(ctx context.Context, raw string) error {
	s, err := backend.Open(ctx, raw)
	if err != nil {
		return errors.New(plainly(err))
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := s.Get(ctx, "conformance-reachable"); err != nil {
		return fmt.Errorf("the store is not available: %w", err)
	}
	return nil
}
