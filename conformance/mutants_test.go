package conformance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// mutants are stores with one bug each, and the rule that must come out VIOLATED for it.
var mutants = []struct {
	bug  string
	rule Rule
}{
	{"acquire looks first and writes later", s1},
	{"leases end at 80 % of their TTL", s1},
	{"the counter is reset by release", s2},
	{"the counter dies with the lease", s2},
	{"the floor is ignored", s2},
	{"absurd floors are accepted", s2},
	{"absurd raises are accepted", s2},
	{"tokens keep 14 digits", s2},
	{"raise sets the held lease's token", s2},
	{"raise can lower the counter", s2},
	{"raise ends the held lease", s2},
	{"raise of a held election is forgotten", s2},
	{"a repeat draws a new token", s3},
	{"a repeat does not extend the lease", s3},
	{"the holder's other attempts are repeats", s3},
	{"a released attempt is granted again", s3},
	{"an expired attempt is granted again", s3},
	{"Seen is ignored", s3},
	{"Abandoned is ignored", s3},
	{"anybody's attempt can be abandoned", s3},
	{"any Abandoned ends any attempt of the candidate", s3},
	{"renew revives an expired lease", s4},
	{"renew ignores the holder", s4},
	{"renew ignores the token", s4},
	{"renew ignores the attempt", s4},
	{"renew does not extend the lease", s4},
	{"a lost lease is an unknown error", s4},
	{"release goes by the holder alone", s5},
	{"release ignores the token", s5},
	{"a second release is refused", s5},
	{"a release needs its token", s5},
	{"a release is followed by a lock-delay", s5},
	{"reservations are ignored", s5},
	{"a reservation is not cut", s5},
	{"an expired lease can reserve", s5},
	{"a used reservation goes on", s5},
	{"a reservation makes its candidate holder", s5},
	{"leases end at 80 % of their TTL", s6},
	{"leases linger for another TTL and 15 s", s6},
	{"leases end with their client", s6},
	{"the challenger's TTL counts", s6},
	{"each third wake-up is lost", s7},
	{"the first watch alone is woken", s7},
	{"a change waits for the receiver", s7},
	{"a watch outlives its context", s7},
	{"a watch outlives its store", s7},
	{"the end of one watch ends all", s7},
	{"a removal wakes nobody", s7},
	{"close ends the watches of others", s7},
	{"get forgets the description", s8},
	{"get tells the whole TTL as remaining", s8},
	{"get forgets the last term of a free election", s8},
	{"get shows the holder after its end", s8},
	{"get answers from a cache", s8},
	{"held comes without the record", s9},
	{"an outdated claim ends the abandoned lease", s9},
	{"a move is ignored", s9},
	{"the record's format is ignored", s9},
	{"calls go on for a minute after their context's end", s10},
	{"a call that is cut off leaves the store stuck", s10},
	{"close reports an error", s10},
	{"close ends the service for all", s10},
	{"names are cut after 64 bytes", s11},
	{"names are cut at a slash", s11},
	{"names end at a NUL", s11},
	{"names are trimmed", s11},
	{"names ignore case", s11},
	{"names are cleaned like paths", s11},
	{"leases of 10 ms steps are cut and not reported", s12},
	{"the TTL is dropped", s12},
	{"a renewal keeps the first TTL", s12},
	{"a renewal of a fresh lease is skipped", anchor},
	{"a restart loses the counters", s2},
	{"a restart frees what is held", s1},
	{"watches are deaf after a restart", s7},
	{"a fail-over loses the counters", s2},
	{"a fail-over frees what is held", s1},
	{"a batch renews its first lease only", s13},
	{"one lost lease fails the whole batch", s13},
	{"a batch hides what is lost", s13},
	{"a batch answers in another order", s13},
	{"a client's leases live as long as it renews any", s6},
}

func TestMutants(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		if r := examine(t, ""); r.Violated() {
			t.Errorf("the store without a bug violates the contract:\n%s", r)
		}
	})
	for _, m := range mutants {
		t.Run(m.rule.Slug+" "+m.bug, func(t *testing.T) {
			if r := examine(t, m.bug); r.Outcome(m.rule) != Violated {
				t.Errorf("%s is %s, want it VIOLATED:\n%s", m.rule.Slug, r.Outcome(m.rule), r)
			}
		})
	}
}

// examine plays all cases on a store with the given bug, each in a bubble.
func examine(t *testing.T, bug string) *Report {
	server := newBreakable(bug)
	s := Suite{
		Open:   func(T) backend.LeaseStore { return server.client() },
		Plant:  func(_ T, election, moved string, version int) { server.plant(election, moved, version) },
		Remove: func(_ T, election string) { server.remove(election) },
	}
	s.Faults.Restart = func(T) { server.restart() }
	s.Faults.Failover = func(T) { server.failover() }
	report := new(Report)
	for _, c := range Cases() {
		if c.elects() {
			continue // see election_mutants_test.go
		}
		synctest.Test(t, func(t *testing.T) {
			result, store := play(t.Context(), s, c, c.Name)
			report.add(store, result)
			<-time.After(time.Hour) // some bugs leave goroutines behind for a while
		})
	}
	return report
}
