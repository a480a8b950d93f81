// Package clock reads the clocks that leases are measured with.
//
// Three clocks tell how long ago something was. The monotonic clock never steps, but on Linux it stands still while the machine is suspended.
// The boot clock counts suspend too. The wall clock counts everything, but steps when somebody sets it. A leader must not believe in a lease longer than the
// store does, so belief goes by the greatest of the first two, and by the wall clock only where there is no boot clock.
package clock

import "time"

// Reading is one look at all clocks, in nanoseconds from an origin of each clock's own. Only differences mean something.
type Reading struct {
	Mono, Boot, Wall int64
	HasBoot          bool // false where the system has no clock that counts suspend; Boot is 0 then
}

// Earlier returns the reading as it would have been d before r.
func (r Reading) Earlier(d time.Duration) Reading {
	r.Mono -= int64(d)
	r.Boot -= int64(d)
	r.Wall -= int64(d)
	return r
}

// Elapsed is how much time a holder must take as gone between two readings: suspend counts. It may be longer than the truth and, as long as the machine
// isn't frozen as a whole, is never shorter.
func Elapsed(from, to Reading) time.Duration {
	elapsed := to.Mono - from.Mono
	if from.HasBoot && to.HasBoot {
		return time.Duration(max(elapsed, to.Boot-from.Boot))
	}
	return time.Duration(max(elapsed, to.Wall-from.Wall))
}

// Jump is by how much the wall clock and the monotonic clock disagree on the time between two readings: a step of the wall clock, or a suspend.
func Jump(from, to Reading) time.Duration {
	return time.Duration((to.Wall - from.Wall) - (to.Mono - from.Mono))
}

// Source reads the clocks of one process. Its functions are fields so that tests can turn the clocks by hand.
type Source struct {
	Sample func() (mono, wall int64)
	Boot   func() (ns int64, ok bool)
}

// New returns the machine's clocks. Inside of a testing/synctest bubble the first two are the bubble's.
func New() *Source {
	origin := time.Now()
	return &Source{
		Sample: func() (int64, int64) {
			now := time.Now() // one call carries both readings
			return int64(now.Sub(origin)), now.UnixNano()
		},
		Boot: Boot,
	}
}

// Read looks at all clocks.
func (s *Source) Read() Reading {
	mono, wall := s.Sample()
	boot, ok := s.Boot()
	return Reading{Mono: mono, Wall: wall, Boot: boot, HasBoot: ok}
}

// Since is Elapsed(from, now), made fast for callers who ask often: while wall and monotonic clock agree to within tolerance there was no suspend longer
// than that, and the greater of the two is taken. Else the boot clock, a system call, tells a suspend from a wall clock that was set.
func (s *Source) Since(from Reading, tolerance time.Duration) time.Duration {
	mono, wall := s.Sample()
	byMono, byWall := mono-from.Mono, wall-from.Wall
	if apart := byWall - byMono; -int64(tolerance) <= apart && apart <= int64(tolerance) {
		return time.Duration(max(byMono, byWall))
	}
	boot, ok := s.Boot()
	return Elapsed(from, Reading{Mono: mono, Wall: wall, Boot: boot, HasBoot: ok})
}
