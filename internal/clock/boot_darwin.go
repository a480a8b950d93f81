package clock

import "golang.org/x/sys/unix"

// Boot returns the boot clock in nanoseconds. It counts the time that the
// machine was suspended, never steps, and is the same for all processes of the
// host. ok is false where there is no such clock.
//
// On macOS this is CLOCK_MONOTONIC: clock_gettime(3) says that it continues to
// increment while the system is asleep, unlike CLOCK_UPTIME_RAW.
func Boot() (ns int64, ok bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}
