package clock

import "golang.org/x/sys/unix"

// Boot returns the boot clock in nanoseconds. It counts the time that the
// machine was suspended, never steps, and is the same for all processes of the
// host. ok is false where there is no such clock.
func Boot() (ns int64, ok bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}
