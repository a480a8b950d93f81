package conformance

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// T is what Suite.Open gets: the part of *testing.T that a case without package testing has too.
type T interface { //nolint:interfacebloat // what *testing.T has
	Helper()
	Name() string
	Context() context.Context
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	FailNow()
}

var _ T = (*testing.T)(nil)

// Suite says how to reach the store under test.
type Suite struct {
	// Open opens one more client of the same service; a case uses two or more of them, and closes them. Required.
	Open func(t T) backend.LeaseStore
	// Target names what is tested in reports: a short name, or a URL without its password. Default: the store's name.
	Target string
	// TTL is for leases whose end a case waits for. Default: 500 ms, or the store's MinTTL if that is more.
	TTL time.Duration
	// Bubble plays each case inside a testing/synctest bubble, for stores that live in this process alone. Check can't and doesn't.
	Bubble bool
	// StoreOnly leaves out the elections, E1 to E9, which take longest: for the second and third run on a kind of store, with another client or user.
	StoreOnly bool
	// Strict makes Run fail for cases that are untested or undecided; otherwise they are skipped with the reason.
	Strict bool
	// Plant writes an election's record as another release would have: moved elsewhere (moved is not empty) or in a record format of the given
	// version. Without it those cases are untested.
	Plant func(t T, election, moved string, version int)
	// Serverless says that the store has no server, but lives in the processes or a file: cases of a server's network and restart don't apply.
	Serverless bool
	// Server is the service's address, host:port, and Through opens a client that reaches it at another one: the suite puts a proxy in between, which cuts, swallows and
	// delays. Without both, the cases with a faulty network are untested.
	Server  string
	Through func(t T, addr string) backend.LeaseStore
	// Faults are what only the author of a store can do to its server. Cases that need one which is missing are untested.
	Faults Faults
	// Progress is told each result as it comes, from several goroutines.
	Progress func(Result)
	// Remove deletes an election's record behind the store's back, as an operator would. Without it that case is untested.
	Remove func(t T, election string)
	// Requests tells how many requests of this suite the server itself has counted so far. Without it, E9 is checked at the store's interface alone.
	Requests func(t T) int64

	elect func(elector.Config) (candidate, error) // for tests: makes the electors of the election cases
}

// Faults are done to the server while its clients stay open. Each returns when the server serves again.
type Faults struct {
	// Restart ends the server and starts it again with what it has kept.
	Restart func(t T)
	// Failover ends the member that leads, so that another takes over.
	Failover func(t T)
	// Skew steps the server's clock forward.
	Skew func(t T, by time.Duration)
}

// Run plays every case as a subtest, named by its rule and its sentence, and returns the report, which is logged too. Where the environment variable
// TENURE_CONFORMANCE_REPORTS names a folder and the suite has a Target, the report is also written there, as JSON.
func Run(t *testing.T, s Suite) *Report {
	t.Helper()
	report := &Report{Target: s.Target}
	for _, rule := range Rules() {
		if s.StoreOnly && rule.election() {
			continue
		}
		t.Run(rule.Slug, func(t *testing.T) {
			for _, c := range casesOf(rule) {
				t.Run(c.Name, func(t *testing.T) { s.test(t, c, report) })
			}
		})
	}
	t.Log("\n" + report.String())
	if folder := os.Getenv(reportsVariable); folder != "" && s.Target != "" {
		if err := report.save(folder); err != nil {
			t.Error(err)
		}
	}
	return report
}

func (s Suite) test(t *testing.T, c Case, report *Report) {
	if c.Waits && !s.Bubble {
		t.Parallel()
	}
	var result Result
	var limits backend.Limits
	if s.Bubble {
		synctest.Test(t, func(t *testing.T) { result, limits = play(t.Context(), s, c, t.Name()) })
	} else {
		result, limits = play(t.Context(), s, c, t.Name())
	}
	report.add(limits, result)
	if s.Progress != nil {
		s.Progress(result)
	}
	for _, line := range result.Log {
		t.Log(line)
	}
	for _, f := range result.Failures {
		t.Error(f)
	}
	switch {
	case result.Setup, s.Strict && (result.Outcome == Undecided || result.Outcome == Untested):
		t.Errorf("%s: %s", result.Outcome, result.Reason)
	case result.Outcome != Holds && result.Outcome != Violated:
		t.Skipf("%s: %s", result.Outcome, result.Reason)
	}
}
