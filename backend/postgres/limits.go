package postgres

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// batchSize is how many leases one statement renews at most: it takes some tens of milliseconds for as many.
const batchSize = 500

// Limits tells what this store keeps.
func (s *Store) Limits() backend.Limits { return s.limits }

func limits(o Options) backend.Limits {
	l := backend.Limits{
		Store: "postgres",
		// A checkpoint or a vacuum can hold a write up for tens of milliseconds.
		MinTTL: 100 * time.Millisecond, MaxTTL: 365 * 24 * time.Hour, Granularity: time.Microsecond,
		Expiry: o.Expiry, Batch: batchSize, WallClock: true, ClockStep: o.ClockStep,
		WakeUp: backend.Pushed, Durability: backend.Local, Tokens: backend.CounterClock,
		Assumptions: []string{
			"No acknowledged write is lost: one server with fsync on, or replicas that are promoted only when they are synchronous. An asynchronous replica that is promoted " +
				"may lack a grant; every election that it knows is then kept free for a TTL first, tokens grow on, and only an election whose first grant was lost isn't protected.",
			"After such a loss, and after Forget, tokens grow if the new server's clock is not behind the last token, which is a time in microseconds, or if the claim's floor is the last token.",
			"A replica is promoted only when the former primary has stopped accepting writes.",
			"Nobody but tenure writes to the tables, and a dump is not restored over a live election.",
		},
	}
	if o.Expiry == backend.Observed {
		l.WallClock, l.ClockStep = false, 0
		return l
	}
	l.Assumptions = append(l.Assumptions, fmt.Sprintf("The wall clock of the server doesn't step forward by more than %v within a TTL.", o.ClockStep))
	return l
}
