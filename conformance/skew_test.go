package conformance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// boastful is a store whose leases end by its clock, although it says that no clock ends them.
type boastful struct{ backend.LeaseStore }

func (b boastful) Unwrap() backend.LeaseStore { return b.LeaseStore }

func (b boastful) Limits() backend.Limits {
	l := b.LeaseStore.Limits()
	l.Expiry = backend.Observed
	return l
}

// A step of the clock ends leases of a store that says so, which is no violation; of one that says otherwise it is.
func TestSteppedClockIsJudgedByWhatTheStoreClaims(t *testing.T) {
	for what, c := range map[string]struct {
		wrap func(backend.LeaseStore) backend.LeaseStore
		want Outcome
	}{
		"native":   {func(s backend.LeaseStore) backend.LeaseStore { return s }, NotClaimed},
		"boastful": {func(s backend.LeaseStore) backend.LeaseStore { return boastful{s} }, Violated},
	} {
		server := memory.NewServer()
		s := Suite{Open: func(T) backend.LeaseStore { return c.wrap(server.Client()) }}
		s.Faults.Skew = func(_ T, by time.Duration) { server.StepClock(by) }
		report := new(Report)
		for _, one := range restartCases {
			if one.Rule.Slug != s6.Slug {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				result, limits := play(t.Context(), s, one, one.Name)
				report.add(limits, result)
			})
		}
		if got := report.Outcome(s6); got != c.want {
			t.Errorf("%s: S6 is %s, want %s:\n%s", what, got, c.want, report)
		}
		if (c.want == Violated) != report.Violated() {
			t.Errorf("%s: the report has other violations:\n%s", what, report)
		}
	}
}
