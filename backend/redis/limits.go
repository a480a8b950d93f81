package redis

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// batch is how many leases one script renews. While it runs the server does nothing else: 2.5 ms for 100 leases, as measured on a small machine (16 ms for 500), which others
// on a shared server hardly notice. More at once would save little: a renewal takes 35 µs of the server by itself, and about 25 µs in a batch of 50 to 200, 33 µs in one of 500.
const batch = 100

// Limits tells what this store keeps.
func (s *Store) Limits() backend.Limits { return s.limits }

func limits(o Options) backend.Limits {
	l := backend.Limits{
		Store: "redis",
		// Redis runs one command at a time: a single slow one of somebody else, tens of milliseconds long, would end a lease much shorter than this.
		MinTTL:      100 * time.Millisecond,
		MaxTTL:      365 * 24 * time.Hour,
		Granularity: time.Millisecond,
		Expiry:      o.Expiry,
		WallClock:   o.Expiry != backend.Observed,
		ClockStep:   o.ClockStep,
		Batch:       batch,
		WakeUp:      backend.Pushed,
		Durability:  backend.Volatile,
		Tokens:      backend.CounterClock,
		Assumptions: append(timeAssumptions(o), durabilityAssumptions(o)...),
	}
	if o.Wait > 0 {
		l.Durability = backend.Asynchronous
	}
	return l
}

func timeAssumptions(o Options) []string {
	if o.Expiry == backend.Observed {
		return []string{"The monotonic clocks of holder and challenger run at the same rate. The server's clock decides nothing but reservations, the age that is shown, and the lower bound of tokens."}
	}
	return []string{fmt.Sprintf("The wall clock of the Redis server doesn't step forward by more than %v within a TTL.", o.ClockStep)}
}

func durabilityAssumptions(o Options) []string {
	lost := "No acknowledged write is lost: one server with appendonly yes and appendfsync always. A server without persistence that restarts, or a replica promoted in " +
		"place of its master, may have lost a live lease; then two lead until the first one's next renewal, and only fencing protects."
	if o.Wait > 0 {
		lost = fmt.Sprintf("The replica that is promoted in place of a master is among the %d or more that had acknowledged the last write. Another one may have lost a live lease; then two lead "+
			"until the first one's next renewal, and only fencing protects.", o.Wait)
	}
	return []string{
		lost,
		"After such a loss, and after Forget, tokens grow on if the server's clock is not behind the last token, which is a time in microseconds, or if the claim's floor is the last token.",
		"The record is not evicted: no allkeys-* policy with maxmemory set. Redis TTLs are not used, so volatile-* policies are harmless.",
	}
}
