package sqlite

import (
	"time"

	"github.com/tenure-go/tenure/backend"
)

// wallStep is how far a wall clock is assumed to step where there is no boot clock: time daemons slew what is less than 128 ms.
const wallStep = 250 * time.Millisecond

// Limits tells what this store keeps.
func (s *Store) Limits() backend.Limits {
	l := backend.Limits{
		Store: "sqlite", MinTTL: 100 * time.Millisecond, MaxTTL: 365 * 24 * time.Hour, Granularity: 1,
		WakeUp: backend.Polled, Durability: backend.Local, Tokens: backend.CounterClock,
		Assumptions: []string{
			"All candidates run on one host, and the file is on a local file system of it.",
			"Nobody removes or replaces the file or its -wal and -shm while a leader leads; a leader notices it at its next renewal.",
			"Grants, releases and raised counters are on disk before they are acknowledged; renewals may be lost with the host's power, which ends all leases anyway.",
			"After a restart of the host, the lease of a leader that has not released is free one TTL after a candidate first sees it.",
			"If the file is lost or an old copy is brought back, tokens grow as long as the host's wall clock is not set back.",
			"A process frozen in the middle of a write, which lasts some milliseconds, stops all other writers until it goes on or is killed.",
			"No other code in the candidates' processes opens and closes the file: that would drop SQLite's locks.",
		},
	}
	if s.clock.wall {
		l.WallClock, l.ClockStep = true, wallStep
		l.Assumptions = append(l.Assumptions,
			"This system has no boot clock, so leases expire by the wall clock, which must not step forward by more than 250 ms within a TTL.")
	}
	return l
}
