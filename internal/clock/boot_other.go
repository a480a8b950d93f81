//go:build !linux && !darwin

package clock

// Boot returns the boot clock in nanoseconds. On this system there is none that
// is known to count suspend, so ok is always false.
func Boot() (ns int64, ok bool) { return 0, false }
